#include "base/biased_lock.h"

#include "base/at_fork.h"

#ifndef FI_BIASED_LOCK_ROUNDS
#define FI_BIASED_LOCK_ROUNDS 7 /* tries at a held word until a waiter yields its thread */
#endif
#ifndef FI_BIASED_LOCK_LOOKS
#define FI_BIASED_LOCK_LOOKS 20 /* at a busy owner until its bias is revoked: about 1,000 pauses */
#endif
#ifndef FI_BIASED_LOCK_ASKS
#define FI_BIASED_LOCK_ASKS 64 /* pauses in which an owner can release its bias when asked */
#endif
#ifndef FI_BIASED_LOCK_STREAK
#define FI_BIASED_LOCK_STREAK 64 /* slow locks in a row until the first bias */
#endif
#define ROUND_LOG_MAX   6 /* a round has at most 64 pauses */
#define LOOKS_MIN       4 /* that decide whether an owner is busy */
#define BUSY_SHARE      8 /* a busy owner holds the lock at one look of 8 */
#define BUSY_ROUNDS     4 /* tries at a held word that show a busy lock */
#define REVOCATIONS_MAX 4 /* later ones do not lengthen the streak */
#define STREAK_SHIFT    2 /* each revocation quadruples the streak */

fi_lock_owner fi_lock_owners[FI_LOCK_OWNERS];

/* ---- the word ---- */

/* <- biased_lock.unlock */
static bool try_slow(fi_biased_lock *l)
{
    uint32_t expected = 0;

    return fi_load_relaxed(&l->word) == 0 &&
           fi_cas_acquire(&l->word, &expected, 1u, biased_lock.slow);
}

/* Each round is twice as long as the one before.  A look at a cache line that the holder writes
 * costs both threads more than a critical section. */
static void pause_round(int round)
{
    for (int i = 0; i < 1 << (round < ROUND_LOG_MAX ? round : ROUND_LOG_MAX); i++)
        fi_pause();
}

/* A critical section has some tens of instructions, unless its thread was preempted in it. */
static void back_off(int *round)
{
    if (*round < FI_BIASED_LOCK_ROUNDS)
        pause_round(*round);
    else
        fi_thread_yield();
    if (*round <= FI_BIASED_LOCK_ROUNDS)
        ++*round;
}

/* Contention that a thread observed while it waited for the lock. */
typedef struct contention {
    int rounds; /* tries that found the word held */
    int looks;  /* at the owner of the bias */
    int held;   /* how many looks found that the owner held the lock */
} contention;

static bool was_held_often(contention seen)
{
    return seen.held * BUSY_SHARE >= seen.looks;
}

/* [any] Does another thread own the bias and use the lock all the time?  Then it keeps the bias for
 * some thousand uses, which take as long as some ten transfers of the cache lines.  Both loads are
 * hints. */
static bool owner_is_busy(fi_biased_lock *l, uint32_t lock_id, contention *seen)
{
    uint32_t owner;

    if (lock_id == FI_LOCK_ID_NONE || seen->looks >= FI_BIASED_LOCK_LOOKS)
        return false;
    owner = fi_load_relaxed(&l->bias);
    if (owner == FI_LOCK_UNBIASED || owner & FI_LOCK_ASKED)
        return false;
    seen->held += fi_load_relaxed(&fi_lock_owner_of(owner)->holds) == l;
    seen->looks++;
    return seen->looks < LOOKS_MIN || was_held_often(*seen);
}

/* [any] */
static contention lock_word(fi_biased_lock *l, uint32_t lock_id)
{
    contention seen = {0};

    for (;;) {
        if (owner_is_busy(l, lock_id, &seen))
            pause_round(seen.looks);
        else if (try_slow(l))
            return seen;
        else
            back_off(&seen.rounds);
    }
}

static bool owner_stayed_busy(contention seen)
{
    return seen.looks == FI_BIASED_LOCK_LOOKS && was_held_often(seen);
}

/* After a yield the waiter may only have waited for a thread that did not run. */
static bool word_was_busy(contention seen)
{
    return seen.rounds >= BUSY_ROUNDS && seen.rounds <= FI_BIASED_LOCK_ROUNDS;
}

/* ---- the bias ---- */

/* [holder of the word] Ask a busy owner for its bias.  True: it has released it.
 * <- biased_lock.release */
static bool ask_owner(fi_biased_lock *l, uint32_t owner)
{
    fi_store_relaxed(&l->bias, owner | FI_LOCK_ASKED);
    for (int i = 0; i < FI_BIASED_LOCK_ASKS; i++) {
        if (fi_load_acquire(&l->bias, biased_lock.released) == FI_LOCK_UNBIASED)
            return true;
        fi_pause();
    }
    return false;
}

/* [any, not the holder] A CAS, because the thread that has asked may no longer wait.  Then a heavy
 * fence has revoked the bias, and another thread may own it.
 * biased_lock.release -> biased_lock.released: the last critical section. */
static void release_bias_if_asked(fi_biased_lock *l, uint32_t lock_id)
{
    uint32_t asked = lock_id | FI_LOCK_ASKED;

    if (fi_load_relaxed(&l->bias) != asked)
        return;
    if (FI_FAULT(biased_lock.answer))
        asked = fi_load_relaxed(&l->bias);
    fi_cas_release(&l->bias, &asked, FI_LOCK_UNBIASED, biased_lock.release);
}

/* [holder of the word] <- biased_lock.unlock_fast, biased_lock.hold */
static void revoke_by_fence(fi_biased_lock *l, uint32_t owner)
{
    int round = 0;

    fi_store_relaxed(&l->bias, FI_LOCK_UNBIASED);
    fi_fence_heavy(biased_lock.heavy);
    while (fi_load_acquire(&fi_lock_owner_of(owner)->holds, biased_lock.revoked) == l)
        back_off(&round);
}

/* [holder of the word] A busy owner is at the lock within nanoseconds, and its answer costs less
 * than a heavy fence.  The revocations from other owners are counted. */
static void revoke_bias(fi_biased_lock *l, uint32_t owner, bool is_busy)
{
    if (!is_busy || !ask_owner(l, owner))
        revoke_by_fence(l, owner);
    l->last = FI_LOCK_ID_NONE;
    if (is_busy && l->revocations > 0)
        l->revocations--;
    else if (!is_busy && l->revocations < REVOCATIONS_MAX)
        l->revocations++;
}

/* [holder, on the slow path] Where a light fence is a full fence, a bias would gain nothing. */
static void set_bias(fi_biased_lock *l, uint32_t lock_id)
{
    l->last = (uint16_t)lock_id;
    l->streak = 0;
    if (fi_fence_one_sided && lock_id != FI_LOCK_ID_NONE)
        fi_store_relaxed(&l->bias, lock_id);
}

/* [holder, on the slow path] */
static void count_streak(fi_biased_lock *l, uint32_t lock_id)
{
    const int streak_needed = FI_BIASED_LOCK_STREAK << (STREAK_SHIFT * l->revocations);

    if (l->last != lock_id) {
        l->last = (uint16_t)lock_id;
        l->streak = 0;
    } else if (lock_id != FI_LOCK_ID_NONE && ++l->streak >= streak_needed) {
        set_bias(l, lock_id);
    }
}

/* [holder, on the slow path] A waiter at a busy lock gets the bias at once. */
static void update_bias(fi_biased_lock *l, uint32_t lock_id, contention seen)
{
    if (owner_stayed_busy(seen) || (word_was_busy(seen) && l->revocations < REVOCATIONS_MAX))
        set_bias(l, lock_id);
    else
        count_streak(l, lock_id);
}

void fi_biased_lock_lock_slow(fi_biased_lock *l, uint32_t lock_id)
{
    contention seen;
    uint32_t owner;

    release_bias_if_asked(l, lock_id);
    seen = lock_word(l, lock_id);
    owner = fi_load_relaxed(&l->bias);
    if (owner != FI_LOCK_UNBIASED)
        revoke_bias(l, owner, owner_stayed_busy(seen));
    update_bias(l, lock_id, seen);
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
