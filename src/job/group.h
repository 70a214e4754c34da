/* Groups.  The own work and the children of a job are a group as well. */
#ifndef FI_JOB_GROUP_H
#define FI_JOB_GROUP_H

#include <filch/job.h>

#include "job/pending.h"
#include "sched/fiber.h"

enum {
    FI_GROUP_DROPS_NOTHING = 1, /* a cancellation interrupts members, but drops none (src/algo) */
    FI_GROUP_TIMED_OUT = 2,     /* its deadline has cancelled it */
};

typedef struct fi_group_deadline fi_group_deadline;

/* The same layout as filch_group. */
typedef struct fi_group {
    fi_cancel_scope scope; /* first: fi_fiber.deferred.group points to it */
    fi_pending pending;
    FI_ATOMIC(uint32_t) flags;
    FI_ATOMIC(int32_t) error; /* the first of a member */
    FI_ATOMIC(uint32_t) dropped;
    FI_ATOMIC(fi_group_deadline *) deadline; /* NULL: none.  Written under the scope's lock */
} fi_group;

static inline fi_group *fi_group_of(const filch_group *g)
{
    return (fi_group *)(uintptr_t)g;
}

static inline bool fi_group_is_cancelled(fi_group *g)
{
    return fi_load_relaxed(&g->scope.cancelled) != 0;
}

/* [any] Cancel the group, and interrupt the waits of its members.  flags: to be set if it was not
 * cancelled before. */
void fi_group_cancel(fi_group *g);
void fi_group_cancel_with(fi_group *g, uint32_t flags);

/* [any] Record the error of a member, if it is the first, and cancel the group; 0: no error. */
void fi_group_fail(fi_group *g, int error);

/* [waiter, when all members are done] Remove the deadline.  deadline.c */
void fi_group_clear_deadline(fi_group *g);

/* [any] Count a member that will not run. */
void fi_group_drop(fi_group *g);

/* [caller that ended n members] Count them as done.  If these were the last, wake the waiters
 * and, if it is the group of a job, finish the job.  The group may be gone afterwards.
 * fi_members_done: returns the group in which that job still must be counted; NULL: none.
 * fi_pending_done: counts it there, and so on. */
fi_group *fi_members_done(fi_group *g, uint32_t n);
void fi_pending_done(fi_group *g, uint32_t n);

/* [fiber, before its work] Count the deferred members of another group than g, as this work may
 * wait for that group. */
static inline void fi_group_flush_deferred(const fi_group *g, fi_fiber *f)
{
    if (f->deferred.run && f->deferred.group != (const void *)g)
        f->deferred.run(f);
}

/* [fiber, at the end of its work] Defer the count of one member.  While the fiber runs other
 * members of the same group, the group is unfinished in any case. */
void fi_group_done_deferred(fi_group *g, fi_fiber *f);

/* [any] Wait until all members are done.  A cancelled fiber cancels the group, and still waits.
 * Returns: 0, -ETIMEDOUT or -ENOMEM. */
int fi_group_wait(fi_group *g, int64_t deadline_ns);

#endif
