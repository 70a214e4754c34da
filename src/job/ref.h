/* Until when a record is one job's: a word with two reasons to live, and a number.
 *
 * A job lives while it is not done, and while its user holds it.  Who takes the last reason away frees the record.  The number
 * is another for each job in the same record: so a link to an earlier job can tell whether that is still
 * the job that it meant, without keeping it alive. */
#ifndef FI_JOB_REF_H
#define FI_JOB_REF_H

#include "base/atomic.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    FI_REF_RUN = 1,  /* it is not done */
    FI_REF_USER = 2, /* its user has not given it up */
    FI_REF_KEPT = 4, /* and nobody else may do so for him */
    FI_REF_GENERATION = 8,
};

#define FI_REF_ALL ((uint32_t)(FI_REF_RUN | FI_REF_USER))

typedef FI_ATOMIC(uint32_t) fi_ref;

static inline uint32_t fi_ref_generation_in(uint32_t word)
{
    return word / FI_REF_GENERATION;
}

/* [any who may use the job] */
static inline uint32_t fi_ref_generation(fi_ref *ref)
{
    return fi_ref_generation_in(fi_load_relaxed(ref));
}

/* [who has the record] A new job in it. */
static inline void fi_ref_init(fi_ref *ref)
{
    fi_store_relaxed(ref, (fi_ref_generation(ref) + 1) * FI_REF_GENERATION + FI_REF_ALL);
}

/* [user] */
static inline void fi_ref_keep(fi_ref *ref)
{
    uint32_t seen = fi_load_relaxed(ref);

    while (!fi_cas_relaxed(ref, &seen, seen | FI_REF_KEPT))
        continue;
}

/* [who has that reason] True: it was the last, and the record is ours to free.
 * ref.drop -> ref.last: our last use of the record before another's first. */
static inline bool fi_ref_drop(fi_ref *ref, uint32_t reason)
{
    uint32_t seen = fi_load_relaxed(ref);

    do
        if (!(seen & reason))
            return false; /* given up before */
    while (!fi_cas_release(ref, &seen, seen & ~reason, ref.drop));
    if (seen & FI_REF_ALL & ~reason)
        return false;
    (void)fi_load_acquire(ref, ref.last); /* <- ref.drop */
    return true;
}

/* [any] Give it up for its user, if it is still that job, held and not kept.  True: as above. */
static inline bool fi_ref_give_up(fi_ref *ref, uint32_t generation)
{
    uint32_t seen = fi_load_relaxed(ref);

    do
        if (fi_ref_generation_in(seen) != generation || !(seen & FI_REF_USER) ||
            (seen & FI_REF_KEPT))
            return false;
    /* -> ref.last: as in fi_ref_drop */
    while (!fi_cas_release(ref, &seen, seen & ~(uint32_t)FI_REF_USER, ref.give_up));
    if (seen & FI_REF_RUN)
        return false;
    (void)fi_load_acquire(ref, ref.given_up); /* <- ref.drop */
    return true;
}

#endif
