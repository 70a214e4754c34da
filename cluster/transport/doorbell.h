/* A doorbell: a word on which one thread sleeps until another thread or process rings it.  The word
 * may be in memory that several processes share.
 *
 *     ringer                        waiter
 *     1. make the condition true    1. check the condition
 *     2. fi_doorbell_ring           2. fi_doorbell_prepare: false if there was a ring; it is consumed,
 *                                      continue with 1
 *                                   3. check the condition: fi_doorbell_cancel if it is true
 *                                   4. fi_doorbell_wait, continue with 1
 *
 * No ring is lost.  Only read-modify-writes change the word, so a ring is before or after the
 * prepare.  A ring before it stays in the word, and the prepare fails.  A ring after it either
 * changes the word before the kernel compares it, or finds the sleeper and wakes it.  In both cases
 * the waiter consumes the ring before it checks the condition again.
 *
 * Step 3 is for conditions without a ring, such as a message from another node.
 *
 * base/eventcount.h makes a system call for each notification and serves one process.  A ring
 * makes one only if the waiter sleeps. */
#ifndef FI_CLUSTER_DOORBELL_H
#define FI_CLUSTER_DOORBELL_H

#include "base/atomic.h"

#include <stdbool.h>
#include <stdint.h>

enum { FI_DOORBELL_AWAKE, FI_DOORBELL_RUNG, FI_DOORBELL_ASLEEP };

typedef FI_ATOMIC(uint32_t) fi_doorbell; /* FI_DOORBELL_AWAKE at first */

/* Two system calls, which the model check replaces. */
#ifndef FI_DOORBELL_FUTEX_WAIT

#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* On 32-bit machines the system call with a 64-bit time has another name. */
#if defined SYS_futex_time64 && !defined __LP64__
#define FI_DOORBELL_FUTEX SYS_futex_time64
typedef struct fi_doorbell_time {
    int64_t tv_sec, tv_nsec;
} fi_doorbell_time;
#else
#define FI_DOORBELL_FUTEX SYS_futex
typedef struct timespec fi_doorbell_time;
#endif

_Static_assert(sizeof(fi_doorbell) == 4, "the kernel reads 4 bytes");

/* Without FUTEX_PRIVATE_FLAG the kernel finds sleepers of other processes.  The result is ignored:
 * a time-out, a signal and a changed word all end the wait. */
#define FI_DOORBELL_FUTEX_WAIT(doorbell, expected, ns)                                             \
    do {                                                                                           \
        fi_doorbell_time time_ = {.tv_sec = (ns) / 1000000000, .tv_nsec = (ns) % 1000000000};      \
        (void)syscall(FI_DOORBELL_FUTEX, (doorbell), FUTEX_WAIT, (expected), &time_, NULL, 0);     \
    } while (0)
#define FI_DOORBELL_FUTEX_WAKE(doorbell)                                                           \
    ((void)syscall(FI_DOORBELL_FUTEX, (doorbell), FUTEX_WAKE, 1, NULL, NULL, 0))

#endif

/* [any] -> doorbell.consume: the condition */
static inline void fi_doorbell_ring(fi_doorbell *doorbell)
{
    if (fi_exchange_release(doorbell, FI_DOORBELL_RUNG, doorbell.ring) == FI_DOORBELL_ASLEEP)
        FI_DOORBELL_FUTEX_WAKE(doorbell);
}

/* [waiter] Consume the rings so far.  <- doorbell.ring.  Otherwise the waiter consumes the ring,
 * does not see the condition, and sleeps. */
static inline void fi_doorbell_consume(fi_doorbell *doorbell)
{
    (void)fi_exchange_acquire(doorbell, FI_DOORBELL_AWAKE, doorbell.consume);
}

/* [waiter] Announce a wait.  False: there was a ring since the last wait, and this call consumed
 * it. */
static inline bool fi_doorbell_prepare(fi_doorbell *doorbell)
{
    uint32_t awake = FI_DOORBELL_AWAKE;

    /* Relaxed: a success reads the waiter's own AWAKE. */
    if (fi_cas_relaxed(doorbell, &awake, FI_DOORBELL_ASLEEP))
        return true;
    fi_doorbell_consume(doorbell);
    return false;
}

/* [waiter] End a wait that was announced, without sleeping. */
static inline void fi_doorbell_cancel(fi_doorbell *doorbell)
{
    fi_doorbell_consume(doorbell);
}

/* [waiter] After a successful prepare, sleep until a ring or for ns.  May return early. */
static inline void fi_doorbell_wait(fi_doorbell *doorbell, int64_t ns)
{
    if (ns > 0)
        FI_DOORBELL_FUTEX_WAIT(doorbell, FI_DOORBELL_ASLEEP, ns);
    fi_doorbell_consume(doorbell);
}

#endif
