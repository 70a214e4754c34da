/* What a job waits for, and who waits for a job.
 *
 * A job counts what is in its way: each job that it comes after, and its submission.  Who takes the last away puts it into
 * a queue.  A job keeps a list of links to those that come after it; when it is done the list is shut, and each of
 * them has one thing less in its way.  Who comes too late for the list finds that nothing is in the way. */
#ifndef FI_JOB_LINKS_H
#define FI_JOB_LINKS_H

#include "base/atomic.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct fi_job fi_job;

typedef struct fi_link {
    struct fi_link *next; /* in the list of `before` */
    fi_job *job;          /* that comes after it */
    fi_job *before;
    uint32_t before_number; /* of its life: the record may be another's by now */
    struct fi_link *next_of_job;
} fi_link;

typedef struct fi_links {
    FI_ATOMIC(fi_link *) first;
} fi_links;

#define FI_LINKS_SHUT ((fi_link *)1)

/* [any] Something more is in the job's way.  False: it is on its way already. */
static inline bool fi_way_block(FI_ATOMIC(uint32_t) * in_way)
{
    uint32_t seen = fi_load_relaxed(in_way);

    while (seen > 0)
        if (fi_cas_relaxed(in_way, &seen, seen + 1))
            return true;
    return false;
}

/* [who has blocked it] One thing less.  True: that was the last, and we must queue the job.
 * way.clear -> way.free: whatever was in the way has done its work before the job runs. */
static inline bool fi_way_clear(FI_ATOMIC(uint32_t) * in_way)
{
    if (fi_fetch_add_release(in_way, UINT32_MAX, way.clear) != 1)
        return false;
    (void)fi_load_acquire(in_way, way.free); /* <- way.clear */
    return true;
}

/* [any] False: `before` is done, and we see what it did. */
static inline bool fi_links_add(fi_links *l, fi_link *link)
{
    fi_link *first = fi_load_relaxed(&l->first);

    do {
        if (first == FI_LINKS_SHUT) {
            (void)fi_load_acquire(&l->first, links.late); /* <- links.shut */
            return false;
        }
        link->next = first;
        /* -> links.walk: what the link says before the word */
    } while (!fi_cas_release(&l->first, &first, link, links.add));
    return true;
}

/* [who has ended the job] The list, which is ours now.  -> links.late: what the job did before the word. */
static inline fi_link *fi_links_shut(fi_links *l)
{
    fi_link *first = fi_exchange_release(&l->first, FI_LINKS_SHUT, links.shut);

    (void)fi_load_acquire(&l->first, links.walk); /* <- links.add */
    return first;
}

#endif
