/* The groups of a serial build (FILCH_SERIAL).  <filch/job.h> includes this file.  A member runs
 * when it is added, so a wait has nothing to wait for. */
#ifndef FILCH_SERIAL_JOB_H
#define FILCH_SERIAL_JOB_H

#include <errno.h>

static inline bool filch_group_is_cancelled(const filch_group *g)
{
    return g->cancelled_ != 0;
}

static inline void filch_group_cancel(filch_group *g)
{
    g->cancelled_ = 1;
}

static inline size_t filch_group_dropped(const filch_group *g)
{
    return g->dropped_;
}

static inline int filch_group_run_fallible(filch_group *g, int (*work)(void *arg), void *arg)
{
    int e = 0;

    if (filch_group_is_cancelled(g))
        g->dropped_++;
    else
        e = work(arg);
    if (e == 0 || (e == -ECANCELED && filch_group_is_cancelled(g)))
        return 0;
    if (g->error_ == 0)
        g->error_ = e;
    filch_group_cancel(g);
    return 0;
}

static inline int filch_group_run(filch_group *g, void (*work)(void *arg), void *arg)
{
    if (filch_group_is_cancelled(g))
        g->dropped_++;
    else
        work(arg);
    return 0;
}

static inline int filch_group_wait(filch_group *g)
{
    int e = g->error_ == 0 && filch_group_is_cancelled(g) ? -ECANCELED : g->error_;

    g->error_ = 0;
    g->cancelled_ = 0;
    return e;
}

/* Members have ended when a deadline is set. */
static inline int filch_group_set_deadline(filch_group *g, int64_t deadline)
{
    (void)deadline;
    return g ? 0 : -EINVAL;
}

static inline int filch_group_wait_until(filch_group *g, int64_t deadline)
{
    (void)deadline;
    return filch_group_wait(g);
}

#endif
