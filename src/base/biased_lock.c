#include "base/biased_lock.h"

#include "base/at_fork.h"

#ifndef FI_BIASED_LOCK_SPINS
#define FI_BIASED_LOCK_SPINS 64
#endif
#ifndef FI_BIASED_LOCK_STREAK
#define FI_BIASED_LOCK_STREAK 64 /* slow locks in a row until the first bias */
#endif
#define REVOCATIONS_MAX 4 /* later ones do not lengthen the streak */
#define STREAK_SHIFT    2 /* each revocation quadruples the streak */

fi_lock_owner fi_lock_owners[FI_LOCK_OWNERS];

/* <- biased_lock.unlock */
static bool try_slow(fi_biased_lock *l)
{
    uint32_t expected = 0;

    return fi_load_relaxed(&l->word) == 0 &&
           fi_cas_acquire(&l->word, &expected, 1u, biased_lock.slow);
}

/* A critical section has some tens of instructions, unless its thread was preempted in it. */
static void back_off(int *spins)
{
    if (++*spins < FI_BIASED_LOCK_SPINS)
        fi_pause();
    else
        fi_thread_yield();
}

/* [holder of the word] <- biased_lock.unlock_fast, biased_lock.hold */
static void revoke_bias(fi_biased_lock *l, uint32_t owner)
{
    int spins = 0;

    fi_store_relaxed(&l->bias, FI_LOCK_UNBIASED);
    fi_fence_heavy(biased_lock.heavy);
    while (fi_load_acquire(&fi_lock_owner_of(owner)->holds, biased_lock.revoked) == l)
        back_off(&spins);
    l->last = FI_LOCK_ID_NONE;
    if (l->revocations < REVOCATIONS_MAX)
        l->revocations++;
}

/* [holder, on the slow path] Where a light fence is a full fence, a bias would gain nothing. */
static void update_bias(fi_biased_lock *l, uint32_t lock_id)
{
    const int streak_needed = FI_BIASED_LOCK_STREAK << (STREAK_SHIFT * l->revocations);

    if (l->last != lock_id) {
        l->last = (uint16_t)lock_id;
        l->streak = 0;
    } else if (lock_id != FI_LOCK_ID_NONE && ++l->streak >= streak_needed) {
        l->streak = 0;
        if (fi_fence_one_sided)
            fi_store_relaxed(&l->bias, lock_id);
    }
}

void fi_biased_lock_lock_slow(fi_biased_lock *l, uint32_t lock_id)
{
    uint32_t owner;
    int spins = 0;

    while (!try_slow(l))
        back_off(&spins);
    owner = fi_load_relaxed(&l->bias);
    if (owner != FI_LOCK_UNBIASED)
        revoke_bias(l, owner);
    update_bias(l, lock_id);
    l->slow = true;
}

/* [child of a fork] The other threads do not exist here, so they hold no lock. */
static void lock_owners_fork_child(void)
{
    for (uint32_t id = 0; id < FI_LOCK_OWNERS; id++)
        if (fi_load_relaxed(&fi_lock_owners[id].holds))
            fi_store_relaxed(&fi_lock_owners[id].holds, NULL);
}

__attribute__((constructor)) static void register_at_fork(void)
{
    fi_at_fork(FI_FORK_LOCK_OWNERS, NULL, lock_owners_fork_child);
}
