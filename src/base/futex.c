/* FUTEX_WAIT_BITSET takes absolute deadlines, so a waiter that wakes up spuriously can wait again
 * without arithmetic. */
#include "base/futex.h"

#include <errno.h>
#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S 1000000000

/* On 32-bit machines the system call with a 64-bit time has another name. */
#if defined SYS_futex_time64 && !defined __LP64__
#define FUTEX_CALL SYS_futex_time64
typedef struct {
    int64_t tv_sec;
    int64_t tv_nsec;
} futex_time;
#else
#define FUTEX_CALL SYS_futex
typedef struct timespec futex_time;
#endif

_Static_assert(sizeof(FI_ATOMIC(uint32_t)) == 4, "the kernel reads 4 bytes");

/* [any] noinline: the address of errno belongs to this thread, and must not live across a switch to
 * another. */
__attribute__((noinline)) static int futex(FI_ATOMIC(uint32_t) * word, int op, uint32_t value,
                                           const futex_time *deadline)
{
    long r = syscall(FUTEX_CALL, word, op, value, deadline, NULL, FUTEX_BITSET_MATCH_ANY);

    return r < 0 ? -errno : (int)r;
}

int fi_futex_wait(FI_ATOMIC(uint32_t) * word, uint32_t expected, int64_t deadline_ns)
{
    int64_t ns = deadline_ns < 0 ? 0 : deadline_ns; /* the kernel rejects negative times */
    futex_time deadline = {.tv_sec = ns / NS_PER_S, .tv_nsec = ns % NS_PER_S};
    const futex_time *until = deadline_ns == FI_FUTEX_FOREVER ? NULL : &deadline;
    int e = futex(word, FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, expected, until);

    return e == -EINTR ? 0 : e; /* a signal is a spurious wake-up */
}

int fi_futex_wake(FI_ATOMIC(uint32_t) * word, int count)
{
    /* The kernel treats 0 as 1. */
    return count <= 0 ? 0 : futex(word, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, (uint32_t)count, NULL);
}
