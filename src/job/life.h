/* Until when a record is one job's: a word with two reasons to live, and a number.
 *
 * A job lives while it is not done, and while its user holds it.  Who takes the last reason away frees the record.  The number
 * is another for each job in the same record: so a link to an earlier job can tell whether that is still
 * the job that it meant, without keeping it alive. */
#ifndef FI_JOB_LIFE_H
#define FI_JOB_LIFE_H

#include "base/atomic.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    FI_LIFE_UNFINISHED = 1, /* it is not done */
    FI_LIFE_HELD = 2,       /* its user has not given it up */
    FI_LIFE_KEPT = 4,       /* and nobody else may do so for him */
    FI_LIFE_NEXT = 8,
};

#define FI_LIFE_REASONS ((uint32_t)(FI_LIFE_UNFINISHED | FI_LIFE_HELD))

typedef FI_ATOMIC(uint32_t) fi_life_word;

static inline uint32_t fi_life_number_in(uint32_t word)
{
    return word / FI_LIFE_NEXT;
}

/* [any who may use the job] */
static inline uint32_t fi_life_number(fi_life_word *life)
{
    return fi_life_number_in(fi_load_relaxed(life));
}

/* [who has the record] A new job in it. */
static inline void fi_life_begin(fi_life_word *life)
{
    fi_store_relaxed(life, (fi_life_number(life) + 1) * FI_LIFE_NEXT + FI_LIFE_REASONS);
}

/* [user] */
static inline void fi_life_keep(fi_life_word *life)
{
    uint32_t seen = fi_load_relaxed(life);

    while (!fi_cas_relaxed(life, &seen, seen | FI_LIFE_KEPT))
        continue;
}

/* [who has that reason] True: it was the last, and the record is ours to free.
 * life.drop -> life.last: our last use of the record before another's first. */
static inline bool fi_life_drop(fi_life_word *life, uint32_t reason)
{
    uint32_t seen = fi_load_relaxed(life);

    do
        if (!(seen & reason))
            return false; /* given up before */
    while (!fi_cas_release(life, &seen, seen & ~reason, life.drop));
    if (seen & FI_LIFE_REASONS & ~reason)
        return false;
    (void)fi_load_acquire(life, life.last); /* <- life.drop */
    return true;
}

/* [any] Give it up for its user, if it is still that job, held and not kept.  True: as above. */
static inline bool fi_life_give_up(fi_life_word *life, uint32_t number)
{
    uint32_t seen = fi_load_relaxed(life);

    do
        if (fi_life_number_in(seen) != number || !(seen & FI_LIFE_HELD) || (seen & FI_LIFE_KEPT))
            return false;
    /* -> life.last: as in fi_life_drop */
    while (!fi_cas_release(life, &seen, seen & ~(uint32_t)FI_LIFE_HELD, life.give_up));
    if (seen & FI_LIFE_UNFINISHED)
        return false;
    (void)fi_load_acquire(life, life.given_up); /* <- life.drop */
    return true;
}

#endif
