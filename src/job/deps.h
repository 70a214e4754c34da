/* What a job waits for, and who waits for a job.
 *
 * A job counts what is in its way: each job that it comes after, and its submission.  Who takes the last away puts it into
 * a queue.  A job keeps a list of links to those that come after it; when it is done the list is shut, and each of
 * them has one thing less in its way.  Who comes too late for the list finds that nothing is in the way. */
#ifndef FI_JOB_DEPS_H
#define FI_JOB_DEPS_H

#include "base/atomic.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct fi_job fi_job;

typedef struct fi_dep {
    struct fi_dep *next; /* of the same dependency */
    fi_job *successor;
} fi_dep;

typedef struct fi_successors {
    FI_ATOMIC(fi_dep *) first;
} fi_successors;

#define FI_SUCCESSORS_CLOSED ((fi_dep *)1)

/* [any] Something more is in the job's way.  False: it is on its way already. */
static inline bool fi_blockers_add(FI_ATOMIC(uint32_t) * n_blockers)
{
    uint32_t seen = fi_load_relaxed(n_blockers);

    while (seen > 0)
        if (fi_cas_relaxed(n_blockers, &seen, seen + 1))
            return true;
    return false;
}

/* [who has blocked it] One thing less.  True: that was the last, and we must queue the job.
 * deps.unblock -> deps.unblocked: whatever was in the way has done its work before the job runs. */
static inline bool fi_blockers_remove(FI_ATOMIC(uint32_t) * n_blockers)
{
    if (fi_fetch_add_release(n_blockers, UINT32_MAX, deps.unblock) != 1)
        return false;
    (void)fi_load_acquire(n_blockers, deps.unblocked); /* <- deps.unblock */
    return true;
}

/* [any] False: `before` is done, and we see what it did. */
static inline bool fi_successors_add(fi_successors *l, fi_dep *dep)
{
    fi_dep *first = fi_load_relaxed(&l->first);

    do {
        if (first == FI_SUCCESSORS_CLOSED) {
            (void)fi_load_acquire(&l->first, deps.late); /* <- deps.close */
            return false;
        }
        dep->next = first;
        /* -> deps.walk: what the link says before the word */
    } while (!fi_cas_release(&l->first, &first, dep, deps.add));
    return true;
}

/* [who has ended the job] The list, which is ours now.  -> deps.late: what the job did before the word. */
static inline fi_dep *fi_successors_close(fi_successors *l)
{
    fi_dep *first = fi_exchange_release(&l->first, FI_SUCCESSORS_CLOSED, deps.close);

    (void)fi_load_acquire(&l->first, deps.walk); /* <- deps.add */
    return first;
}

#endif
