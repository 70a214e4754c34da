/* The references to a job's record, and the generation of the record, in one word.
 *
 * A job has two references.  Its run holds one until the job is done.  Its user holds the other
 * until it waits for the job or releases it, or submits it with a parent or a group.  The holder
 * that drops the last reference frees the record.  Dependencies hold none: a job that blocks or
 * is blocked is not done.
 *
 * The generation counts the jobs that have used the record.  It is the tag of the user's handle
 * (base/tag.h), and stays readable after the record was freed. */
#ifndef FI_JOB_REF_H
#define FI_JOB_REF_H

#include "base/atomic.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    FI_REF_RUN = 1,
    FI_REF_USER = 2,
    FI_REF_GENERATION = 4, /* the generation starts at this bit */
};

#define FI_REF_ALL ((uint32_t)(FI_REF_RUN | FI_REF_USER))

typedef FI_ATOMIC(uint32_t) fi_ref;

static inline uint32_t fi_ref_generation_in(uint32_t word)
{
    return word / FI_REF_GENERATION;
}

/* [any that may use the job] */
static inline uint32_t fi_ref_generation(fi_ref *ref)
{
    return fi_ref_generation_in(fi_load_relaxed(ref));
}

/* [owner of the record] Start the next generation, with both references. */
static inline void fi_ref_init(fi_ref *ref)
{
    fi_store_relaxed(ref, (fi_ref_generation(ref) + 1) * FI_REF_GENERATION + FI_REF_ALL);
}

/* [user] Drop the user's reference before the job can run.  Plain and relaxed: no other thread
 * changes the word before the job is submitted, which publishes it and what the user wrote. */
static inline void fi_ref_hand_over(fi_ref *ref)
{
    fi_store_relaxed(ref, fi_load_relaxed(ref) & ~(uint32_t)FI_REF_USER);
}

/* [holder] Drop a reference.  True: it was the last, and the caller frees the record.  False if
 * it was dropped before, which happens when two threads wait for one job.
 * ref.drop -> ref.last: the accesses of the other holder come before the next use of the record. */
static inline bool fi_ref_drop(fi_ref *ref, uint32_t holder)
{
    uint32_t seen = fi_load_relaxed(ref);

    do
        if (!(seen & holder))
            return false;
    while (!fi_cas_release(ref, &seen, seen & ~holder, ref.drop));
    if (seen & FI_REF_ALL & ~holder)
        return false;
    (void)fi_load_acquire(ref, ref.last); /* <- ref.drop */
    return true;
}

/* [run] The same for the reference of the run.  It is dropped once, so if it is the last one, no
 * other thread changes the word.  ref.drop -> ref.run_last: as above. */
static inline bool fi_ref_drop_run(fi_ref *ref)
{
    uint32_t seen = fi_load_relaxed(ref);

    if (seen & FI_REF_USER)
        return fi_ref_drop(ref, FI_REF_RUN);
    (void)fi_load_acquire(ref, ref.run_last); /* <- ref.drop */
    fi_store_relaxed(ref, seen & ~(uint32_t)FI_REF_RUN);
    return true;
}

#endif
