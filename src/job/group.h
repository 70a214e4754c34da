/* Groups.  The own work and the children of a job are a group as well. */
#ifndef FI_JOB_GROUP_H
#define FI_JOB_GROUP_H

#include <filch/job.h>

#include "job/pending.h"
#include "sched/fiber.h"

enum { FI_GROUP_CANCELLED = 1, FI_GROUP_CANCELS_ON_ERROR = 2 };

/* The same layout as filch_group. */
typedef struct fi_group {
    fi_pending pending;
    FI_ATOMIC(uint32_t) flags;
    FI_ATOMIC(int32_t) error; /* the first of a member */
    FI_ATOMIC(uint32_t) dropped;
} fi_group;

static inline fi_group *fi_group_of(const filch_group *g)
{
    return (fi_group *)(uintptr_t)g;
}

static inline bool fi_group_is_cancelled(fi_group *g)
{
    return fi_load_relaxed(&g->flags) & FI_GROUP_CANCELLED;
}

/* [any] */
void fi_group_cancel(fi_group *g);

/* [any] Record the error of a member, if it is the first; 0: no error. */
void fi_group_fail(fi_group *g, int error);

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
void fi_group_flush_deferred(fi_group *g, fi_fiber *f);

/* [fiber, at the end of its work] Defer the count of one member.  While the fiber runs other
 * members of the same group, the group is unfinished in any case. */
void fi_group_done_deferred(fi_group *g, fi_fiber *f);

/* [any] Wait until all members are done.  0, -ETIMEDOUT or, if cancellable, -ECANCELED. */
int fi_group_wait(fi_group *g, bool cancellable, int64_t deadline_ns);

#endif
