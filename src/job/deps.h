/* The blockers of a job, and the list of its successors.
 *
 * A job has a count of blockers: one for each unfinished dependency, and a mark until it is
 * submitted.  The caller that removes the last blocker queues the job.  Each job has a list of
 * edges to its successors.  When the job is done it closes the list and removes one blocker of
 * each successor.  An edge that comes too late for the list does not block. */
#ifndef FI_JOB_DEPS_H
#define FI_JOB_DEPS_H

#include "base/atomic.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct fi_job fi_job;

/* An edge from a dependency to a successor. */
typedef struct fi_dep {
    struct fi_dep *next; /* of the same dependency */
    fi_job *successor;
} fi_dep;

typedef struct fi_successors {
    FI_ATOMIC(fi_dep *) first;
} fi_successors;

#define FI_SUCCESSORS_CLOSED ((fi_dep *)1)

#define FI_BLOCKERS_UNSUBMITTED 0x80000000u /* in the count: the job was not submitted yet */

/* [any] Add n blockers.  False: the job has none, and so is queued, running or done. */
static inline bool fi_blockers_add(FI_ATOMIC(uint32_t) * n_blockers, uint32_t n)
{
    uint32_t seen = fi_load_relaxed(n_blockers);

    while (seen > 0)
        if (fi_cas_relaxed(n_blockers, &seen, seen + n))
            return true;
    return false;
}

/* [owner of a blocker] Remove it.  True: it was the last, and the caller must queue the job.
 * deps.unblock -> deps.unblocked, deps.ready: the work of a dependency comes before that of the
 * job. */
static inline bool fi_blockers_remove(FI_ATOMIC(uint32_t) * n_blockers)
{
    if (fi_fetch_add_release(n_blockers, UINT32_MAX, deps.unblock) != 1)
        return false;
    (void)fi_load_acquire(n_blockers, deps.unblocked); /* <- deps.unblock, deps.submit */
    return true;
}

/* What a submission has found. */
typedef enum fi_submission {
    FI_SUBMITTED_BEFORE, /* nothing was changed */
    FI_SUBMITTED_BLOCKED,
    FI_SUBMITTED_READY, /* the caller must queue the job */
} fi_submission;

/* [any] Remove the mark of a job that was not submitted.
 * deps.submit -> deps.unblocked: what the user wrote comes before the work of the job. */
static inline fi_submission fi_blockers_submit(FI_ATOMIC(uint32_t) * n_blockers)
{
    uint32_t seen = fi_load_relaxed(n_blockers);

    do
        if (!(seen & FI_BLOCKERS_UNSUBMITTED))
            return FI_SUBMITTED_BEFORE;
    while (!fi_cas_release(n_blockers, &seen, seen & ~FI_BLOCKERS_UNSUBMITTED, deps.submit));
    if (seen != FI_BLOCKERS_UNSUBMITTED)
        return FI_SUBMITTED_BLOCKED;
    (void)fi_load_acquire(n_blockers, deps.ready); /* <- deps.unblock */
    return FI_SUBMITTED_READY;
}

/* [any] Was it submitted? */
static inline bool fi_blockers_are_submitted(FI_ATOMIC(uint32_t) * n_blockers)
{
    return !(fi_load_relaxed(n_blockers) & FI_BLOCKERS_UNSUBMITTED);
}

/* [any] False: the list is closed, and the caller sees what its job did. */
static inline bool fi_successors_add(fi_successors *l, fi_dep *dep)
{
    fi_dep *first = fi_load_relaxed(&l->first);

    do {
        if (first == FI_SUCCESSORS_CLOSED) {
            (void)fi_load_acquire(&l->first, deps.late); /* <- deps.close */
            return false;
        }
        dep->next = first;
        /* -> deps.walk, deps.search: the fields of the edge come before the edge. */
    } while (!fi_cas_release(&l->first, &first, dep, deps.add));
    return true;
}

/* [any that holds the lock of cycle.c] The first edge of a list that stays open; NULL: none.
 * <- deps.add */
static inline fi_dep *fi_successors_first(fi_successors *l)
{
    return fi_load_acquire(&l->first, deps.search);
}

/* [the same] Remove an edge from a list that stays open. */
static inline void fi_successors_remove(fi_successors *l, fi_dep *dep)
{
    fi_dep *first = dep;

    if (fi_cas_relaxed(&l->first, &first, dep->next))
        return;
    first = fi_successors_first(l); /* others were added in front of it */
    while (first->next != dep)
        first = first->next;
    first->next = dep->next;
}

/* [caller that finishes the job] Close the list and take its edges.
 * -> deps.late: the work of the job comes before. */
static inline fi_dep *fi_successors_close(fi_successors *l)
{
    fi_dep *first = fi_exchange_release(&l->first, FI_SUCCESSORS_CLOSED, deps.close);

    (void)fi_load_acquire(&l->first, deps.walk); /* <- deps.add */
    return first;
}

#endif
