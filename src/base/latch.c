#include "base/latch.h"

#include "base/at_fork.h"

#ifndef FI_LATCH_SPINS
#define FI_LATCH_SPINS 64
#endif
#ifndef FI_LATCH_STREAK
#define FI_LATCH_STREAK 64 /* so often in a row, at first */
#endif
#define LOSSES_MAX      4 /* after so many, no more often than it is worth */
#define STREAK_PER_LOSS 2 /* bits: four times as often after each */

fi_latch_party fi_latch_parties[FI_LATCH_PARTIES];

/* <- latch.unlock */
static bool try_word(fi_latch *l)
{
    uint32_t expected = 0;

    return fi_load_relaxed(&l->word) == 0 && fi_cas_acquire(&l->word, &expected, 1u, latch.word);
}

/* Some tens of instructions, unless the other thread was stopped in their midst. */
static void wait_a_little(int *turns)
{
    if (++*turns < FI_LATCH_SPINS)
        fi_pause();
    else
        fi_yield();
}

/* [has the word] <- latch.let_go, latch.hold */
static void take_from(fi_latch *l, uint32_t favourite)
{
    int turns = 0;

    fi_store_relaxed(&l->favourite, FI_LATCH_NONE);
    fi_fence_heavy(latch.heavy);
    while (fi_load_acquire(&fi_latch_party_of(favourite)->holds, latch.taken) == l)
        wait_a_little(&turns);
    l->last = FI_LATCH_NOBODY;
    if (l->losses < LOSSES_MAX)
        l->losses++;
}

/* [holder by the word] Where a light fence is not light, a favourite would gain nothing. */
static void note(fi_latch *l, uint32_t who)
{
    if (l->last != who) {
        l->last = (uint16_t)who;
        l->streak = 0;
    } else if (who != FI_LATCH_NOBODY && ++l->streak >= FI_LATCH_STREAK
                                                            << (STREAK_PER_LOSS * l->losses)) {
        l->streak = 0;
        if (fi_fence_one_sided)
            fi_store_relaxed(&l->favourite, who);
    }
}

void fi_latch_lock_by_word(fi_latch *l, uint32_t who)
{
    uint32_t favourite;
    int turns = 0;

    while (!try_word(l))
        wait_a_little(&turns);
    favourite = fi_load_relaxed(&l->favourite);
    if (favourite != FI_LATCH_NONE)
        take_from(l, favourite);
    note(l, who);
    l->by_word = true;
}

/* [child of a fork] The other threads do not exist here, so they hold nothing. */
static void forget_parties(void)
{
    for (uint32_t who = 0; who < FI_LATCH_PARTIES; who++)
        if (fi_load_relaxed(&fi_latch_parties[who].holds))
            fi_store_relaxed(&fi_latch_parties[who].holds, NULL);
}

__attribute__((constructor)) static void register_at_fork(void)
{
    fi_at_fork(FI_FORK_LATCHES, NULL, forget_parties);
}
