/* A biased spin lock, for critical sections of some tens of instructions.
 *
 * A locked instruction costs as much as the rest of a channel send.  Most channels, mutexes and run
 * queues are used by one worker for a long time.  So a thread that takes the lock many times in a
 * row gets the bias.  The owner of the bias locks and unlocks with plain loads and stores.  Another
 * thread revokes the bias with a heavy fence (base/atomic.h).  Each of the first four revocations
 * quadruples the streak that is needed to bias the lock again.
 *
 * Two threads that both use a lock all the time would mostly wait for the transfer of its cache
 * lines.  So they take turns of some microseconds.  A waiter leaves a busy owner its bias for that
 * long, and then asks for it by FI_LOCK_ASKED.  The owner no longer finds its id in `bias`, takes
 * the slow path, and releases the bias.  The waiter gets it and has the next turn
 * (docs/decisions/017).
 *
 *     fast path, by the owner of the bias    revocation, by the holder of the word
 *     1. holds = this lock                   1. bias = none
 *     2. light fence  biased_lock.light      2. heavy fence  biased_lock.heavy
 *     3. is the bias still mine?             3. wait while the former owner's holds is this lock
 *        yes: locked
 *        no: holds = NULL, slow path
 *
 * One of the two fences comes first.  If it is the light one, step 3 on the right sees that the
 * lock is held.  Otherwise step 3 on the left sees that the bias was revoked.
 *
 * `holds` belongs to the owner of the bias and not to the lock.  A former owner may learn late that
 * the bias was revoked, and would otherwise overwrite the word of the next owner.  Consequently a
 * thread holds one lock at a time by its bias, and takes a second one on the slow path.
 *
 * Waiters spin and yield the thread, because the holder may not be running.  So a holder must be
 * quick and must not park.  Zeroed memory is an unlocked lock. */
#ifndef FI_BASE_BIASED_LOCK_H
#define FI_BASE_BIASED_LOCK_H

#include "base/atomic.h"
#include "base/compiler.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FI_LOCK_UNBIASED 0u       /* value of `bias`: no owner */
#define FI_LOCK_ID_NONE  0xffffu  /* lock id of a thread that never gets the bias */
#define FI_LOCK_ASKED    0x10000u /* flag of `bias`: its owner is asked to release it */
#define FI_LOCK_OWNERS   2049u    /* lock ids start at 1; each worker has two */

typedef struct fi_biased_lock {
    FI_ATOMIC(uint32_t) word; /* 1: held on the slow path, or its holder revokes the bias */
    FI_ATOMIC(uint32_t)
    bias; /* lock id of the owner; written by the holder of the word,
                                 and by an owner that is asked to release it */
    /* Protected by the lock. */
    uint16_t last;       /* lock id of the last holder on the slow path */
    uint16_t streak;     /* how often in a row it was that one */
    uint8_t revocations; /* up to a limit */
    bool slow;           /* held on the slow path */
} fi_biased_lock;

/* A lock that its creator holds on the slow path, before another thread can see it. */
#define FI_BIASED_LOCK_HELD ((fi_biased_lock){.word = 1, .last = FI_LOCK_ID_NONE, .slow = true})

/* For each lock id, the lock that it holds by its bias. */
typedef struct fi_lock_owner {
    FI_CACHE_ALIGNED FI_ATOMIC(const fi_biased_lock *) holds;
} fi_lock_owner;
extern fi_lock_owner fi_lock_owners[FI_LOCK_OWNERS] __attribute__((visibility("hidden")));

/* [any] */
void fi_biased_lock_lock_slow(fi_biased_lock *l, uint32_t lock_id);

static inline fi_lock_owner *fi_lock_owner_of(uint32_t lock_id)
{
    return &fi_lock_owners[FI_FAULT(biased_lock.owners) ? FI_LOCK_UNBIASED : lock_id];
}

/* [holder by the bias]
 * biased_lock.unlock_fast -> biased_lock.revoked: the critical section, this one or the last. */
static inline void fi_biased_lock_unlock_fast(uint32_t lock_id)
{
    fi_store_release(&fi_lock_owner_of(lock_id)->holds, NULL, biased_lock.unlock_fast);
}

/* [any] Lock if the caller owns the bias.  lock_id: below FI_LOCK_OWNERS and not used by another
 * running thread, or FI_LOCK_ID_NONE.  False: the bias is not the caller's, and the lock is not
 * held.
 * biased_lock.hold -> biased_lock.revoked: a thread that revokes another of our locks may read this
 * store, and not the earlier one that released that lock. */
static inline bool fi_biased_lock_try_fast(fi_biased_lock *l, uint32_t lock_id)
{
    if (FI_UNLIKELY(fi_load_relaxed(&l->bias) != lock_id))
        return false;
    fi_store_release(&fi_lock_owner_of(lock_id)->holds, l, biased_lock.hold);
    fi_fence_compiler(biased_lock.light); /* without one-sided fences no lock is ever biased */
    if (FI_LIKELY(fi_load_relaxed(&l->bias) == lock_id))
        return true;
    fi_biased_lock_unlock_fast(lock_id);
    return false;
}

/* [any] */
static inline void fi_biased_lock_lock(fi_biased_lock *l, uint32_t lock_id)
{
    if (FI_UNLIKELY(!fi_biased_lock_try_fast(l, lock_id)))
        fi_biased_lock_lock_slow(l, lock_id);
}

/* [holder, after fi_biased_lock_lock_slow]
 * biased_lock.unlock -> biased_lock.slow: the next holder sees what was done under the lock. */
static inline void fi_biased_lock_unlock_slow(fi_biased_lock *l)
{
    l->slow = false; /* the fast path does not write it */
    fi_store_release(&l->word, 0u, biased_lock.unlock);
}

/* [holder, with the id that it locked with] fast: whether fi_biased_lock_try_fast has succeeded.  A
 * function that is inlined twice, after either lock, gives it as a constant. */
static inline void fi_biased_lock_unlock_as(fi_biased_lock *l, uint32_t lock_id, bool fast)
{
    if (FI_LIKELY(fast))
        fi_biased_lock_unlock_fast(lock_id);
    else
        fi_biased_lock_unlock_slow(l);
}

/* [holder, with the id that it locked with] */
static inline void fi_biased_lock_unlock(fi_biased_lock *l, uint32_t lock_id)
{
    fi_biased_lock_unlock_as(l, lock_id, !l->slow);
}

#endif
