#include "base/biased_lock.h"

#include "base/at_fork.h"

#ifndef FI_BIASED_LOCK_SPINS
#define FI_BIASED_LOCK_SPINS 64
#endif
#ifndef FI_BIASED_LOCK_STREAK
#define FI_BIASED_LOCK_STREAK 64 /* so often in a row, at first */
#endif
#define LOSSES_MAX      4 /* after so many, no more often than it is worth */
#define STREAK_PER_LOSS 2 /* bits: four times as often after each */

fi_lock_owner fi_lock_owners[FI_LOCK_OWNERS];

/* <- biased_lock.unlock */
static bool try_word(fi_biased_lock *l)
{
    uint32_t expected = 0;

    return fi_load_relaxed(&l->word) == 0 &&
           fi_cas_acquire(&l->word, &expected, 1u, biased_lock.slow);
}

/* Some tens of instructions, unless the other thread was stopped in their midst. */
static void wait_a_little(int *turns)
{
    if (++*turns < FI_BIASED_LOCK_SPINS)
        fi_pause();
    else
        fi_thread_yield();
}

/* [has the word] <- biased_lock.unlock_fast, biased_lock.hold */
static void take_from(fi_biased_lock *l, uint32_t favourite)
{
    int turns = 0;

    fi_store_relaxed(&l->favourite, FI_LOCK_UNBIASED);
    fi_fence_heavy(biased_lock.heavy);
    while (fi_load_acquire(&fi_lock_owner_of(favourite)->holds, biased_lock.revoked) == l)
        wait_a_little(&turns);
    l->last = FI_LOCK_ID_NONE;
    if (l->losses < LOSSES_MAX)
        l->losses++;
}

/* [holder by the word] Where a light fence is not light, a favourite would gain nothing. */
static void note(fi_biased_lock *l, uint32_t who)
{
    if (l->last != who) {
        l->last = (uint16_t)who;
        l->streak = 0;
    } else if (who != FI_LOCK_ID_NONE && ++l->streak >= FI_BIASED_LOCK_STREAK
                                                            << (STREAK_PER_LOSS * l->losses)) {
        l->streak = 0;
        if (fi_fence_one_sided)
            fi_store_relaxed(&l->favourite, who);
    }
}

void fi_biased_lock_lock_slow(fi_biased_lock *l, uint32_t who)
{
    uint32_t favourite;
    int turns = 0;

    while (!try_word(l))
        wait_a_little(&turns);
    favourite = fi_load_relaxed(&l->favourite);
    if (favourite != FI_LOCK_UNBIASED)
        take_from(l, favourite);
    note(l, who);
    l->by_word = true;
}

/* [child of a fork] The other threads do not exist here, so they hold nothing. */
static void forget_parties(void)
{
    for (uint32_t who = 0; who < FI_LOCK_OWNERS; who++)
        if (fi_load_relaxed(&fi_lock_owners[who].holds))
            fi_store_relaxed(&fi_lock_owners[who].holds, NULL);
}

__attribute__((constructor)) static void register_at_fork(void)
{
    fi_at_fork(FI_FORK_LATCHES, NULL, forget_parties);
}
