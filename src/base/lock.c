/* A futex lock with three states (Drepper, "Futexes Are Tricky").  An unlock wakes only if a thread
 * may be sleeping. */
#include "base/lock.h"

#include "base/futex.h"

enum { FREE = 0, HELD = 1, HELD_WITH_SLEEPERS = FI_LOCK_CONTENDED };

/* Holders keep the lock for some tens of instructions, so a short spin is mostly enough.  The model
 * checkers set it to 0, because spinning only multiplies their states. */
#ifndef FI_LOCK_SPINS
#define FI_LOCK_SPINS 64
#endif

void fi_lock_init(fi_lock *l)
{
    fi_atomic_init(&l->word, (uint32_t)FREE);
}

/* [any] <- lock.unlock: the writes of the last holder. */
static bool try_lock(fi_lock *l)
{
    uint32_t expected = FREE;
    return fi_cas_acquire(&l->word, &expected, (uint32_t)HELD, lock.try);
}

static bool spin(fi_lock *l)
{
    for (int i = 0; i < FI_LOCK_SPINS; i++) {
        if (fi_load_relaxed(&l->word) == FREE && try_lock(l))
            return true;
        fi_pause();
    }
    return false;
}

/* [any] A thread that has slept does not know whether others still sleep, so it takes the lock as
 * HELD_WITH_SLEEPERS. */
void fi_lock_lock(fi_lock *l)
{
    if (try_lock(l) || spin(l))
        return;
    /* <- lock.unlock, as in try_lock */
    while (fi_exchange_acquire(&l->word, (uint32_t)HELD_WITH_SLEEPERS, lock.wait) != FREE)
        fi_futex_wait(&l->word, HELD_WITH_SLEEPERS, FI_FUTEX_FOREVER);
}

/* [holder] -> lock.try, lock.wait */
void fi_lock_unlock(fi_lock *l)
{
    if (fi_exchange_release(&l->word, (uint32_t)FREE, lock.unlock) == HELD_WITH_SLEEPERS)
        fi_futex_wake(&l->word, 1);
}
