/* A latch: guards what is done in some tens of instructions, and costs next to nothing while the same worker comes again
 * and again.
 *
 * A locked instruction takes as long as all the rest of sending an item through a channel.  Yet most channels, mutexes
 * and queues are used by one worker for a long time: the fibers that meet there run on it one after the other.  So a latch
 * that the same party has taken many times in a row becomes its favourite's, who takes it with plain loads and
 * stores from then on.  Somebody else who comes takes the latch away from the favourite first, which costs a heavy fence
 * (base/atomic.h), and makes the latch slower to have a favourite again.
 *
 *     the favourite                           somebody else, who has the word
 *     1. I hold this latch                    1. favourite = nobody
 *     2. light fence  biased_lock.light             2. heavy fence  biased_lock.heavy
 *     3. still the favourite?  It is mine     3. wait while the favourite of before holds this latch
 *        no: I hold none, go the other way
 *
 * Of the two fences one comes first.  If it is the left one, step 3 on the right sees that it is held; else step 3 on
 * the left sees that the favourite is none any more.
 *
 * What a favourite holds is a word of the favourite's, not of the latch: one who is slow to find out that it is none any
 * more would else undo what the next one has written.  So a favourite holds one such latch at a time; who needs a second
 * one takes it by its word.
 *
 * Whoever waits for a latch spins, and lets other threads run: its holder may not be running.  So nobody may keep one
 * for long, or be parked with it.  Zeroed memory is a latch that is free.
 */
#ifndef FI_BASE_BIASED_LOCK_H
#define FI_BASE_BIASED_LOCK_H

#include "base/atomic.h"
#include "base/compiler.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FI_LOCK_UNBIASED 0u      /* as the favourite */
#define FI_LOCK_ID_NONE  0xffffu /* as who comes: it never becomes the favourite */
#define FI_LOCK_OWNERS   2049u   /* two for each worker, from 1 */

typedef struct fi_biased_lock {
    FI_ATOMIC(uint32_t) word; /* 1: held, or wanted by somebody who takes it from the favourite */
    FI_ATOMIC(uint32_t) favourite; /* who; written by whoever has the word */
    /* The rest under the latch. */
    uint16_t last;   /* who had it by the word */
    uint16_t streak; /* how often in a row */
    uint8_t losses;  /* how often it was taken from a favourite, up to a limit */
    bool by_word;    /* it is held by the word */
} fi_biased_lock;

/* What each party holds as a favourite. */
typedef struct fi_lock_owner {
    FI_CACHE_ALIGNED FI_ATOMIC(const fi_biased_lock *) holds;
} fi_lock_owner;
extern fi_lock_owner fi_lock_owners[FI_LOCK_OWNERS] __attribute__((visibility("hidden")));

/* [any] */
void fi_biased_lock_lock_slow(fi_biased_lock *l, uint32_t who);

static inline fi_lock_owner *fi_lock_owner_of(uint32_t who)
{
    return &fi_lock_owners[FI_FAULT(biased_lock.owners) ? FI_LOCK_UNBIASED : who];
}

/* [favourite, who holds it as that] biased_lock.unlock_fast -> biased_lock.revoked: what was done under it, now or the last time. */
static inline void fi_biased_lock_unlock_fast(uint32_t who)
{
    fi_store_release(&fi_lock_owner_of(who)->holds, NULL, biased_lock.unlock_fast);
}

/* [any] who: a number from 1 to below FI_LOCK_OWNERS that nobody else who may run at this moment has, or NOBODY.
 * False: it is not the favourite, and does not hold the latch.
 * biased_lock.hold -> biased_lock.revoked: who takes another latch from us may read this, and not that we have let that one go. */
static inline bool fi_biased_lock_try_fast(fi_biased_lock *l, uint32_t who)
{
    if (FI_UNLIKELY(fi_load_relaxed(&l->favourite) != who))
        return false;
    fi_store_release(&fi_lock_owner_of(who)->holds, l, biased_lock.hold);
    fi_fence_compiler(biased_lock.light); /* else nobody is ever the favourite */
    if (FI_LIKELY(fi_load_relaxed(&l->favourite) == who))
        return true;
    fi_biased_lock_unlock_fast(who);
    return false;
}

/* [any] */
static inline void fi_biased_lock_lock(fi_biased_lock *l, uint32_t who)
{
    if (FI_UNLIKELY(!fi_biased_lock_try_fast(l, who)))
        fi_biased_lock_lock_slow(l, who);
}

/* [holder, after fi_biased_lock_lock_slow]
 * biased_lock.unlock -> biased_lock.slow: the next holder sees what was done under the lock. */
static inline void fi_biased_lock_unlock_slow(fi_biased_lock *l)
{
    l->by_word = false; /* a holder by bias does not write it */
    fi_store_release(&l->word, 0u, biased_lock.unlock);
}

/* [holder, with the id that it locked with] fast: whether fi_biased_lock_try_fast has succeeded.  A
 * function that is inlined twice, after either lock, gives it as a constant. */
static inline void fi_biased_lock_unlock_as(fi_biased_lock *l, uint32_t who, bool fast)
{
    if (FI_LIKELY(fast))
        fi_biased_lock_unlock_fast(who);
    else
        fi_biased_lock_unlock_slow(l);
}

/* [holder, with the id that it locked with] */
static inline void fi_biased_lock_unlock(fi_biased_lock *l, uint32_t who)
{
    fi_biased_lock_unlock_as(l, who, !l->by_word);
}

#endif
