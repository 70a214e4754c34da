/* Jobs that one thread runs when it likes: a list behind a lock. */
#include "base/at_fork.h"
#include "job/job.h"

#include "base/clock.h"
#include "base/fatal.h"
#include "base/lock.h"
#include "sched/lot.h"
#include "sched/span.h"

#include <errno.h>
#include <stddef.h>

/* The same layout as filch_pump. */
typedef struct pump {
    fi_runnable *first, *last;
    const void *waits_at; /* the address under which its thread sleeps; NULL: it does not */
    fi_lock lock;
    uint32_t n; /* how many */
} pump;

_Static_assert(sizeof(pump) == sizeof(filch_pump), "one layout");
_Static_assert(offsetof(pump, lock) == offsetof(filch_pump, lock_), "one layout");

static pump *pump_of(filch_pump *p)
{
    return (pump *)(void *)p;
}

/* Once the lock is free the job may be done, and the pump gone. */
void fi_pump_push(filch_pump *pump_, fi_job *j)
{
    pump *p = pump_of(pump_);
    const void *waits_at;

    j->runnable.next = NULL;
    fi_lock_lock(&p->lock);
    if (p->first)
        p->last->next = &j->runnable;
    else
        p->first = &j->runnable;
    p->last = &j->runnable;
    p->n++;
    waits_at = p->waits_at;
    fi_lock_unlock(&p->lock);
    if (waits_at)
        fi_lot_wake_all(waits_at);
}

static fi_job *pump_pop(pump *p)
{
    fi_runnable *r;

    fi_lock_lock(&p->lock);
    r = p->first;
    if (r) {
        p->first = r->next;
        p->n--;
    }
    fi_lock_unlock(&p->lock);
    return (fi_job *)(void *)r;
}

static void pump_check_caller(void)
{
    if (fi_worker_self())
        fi_fatal("a pump is for one thread, and this is a fiber, which has none of its own");
}

/* One job's work may pump in turn. */
static _Thread_local fi_job *running;

fi_job *fi_pump_running(void)
{
    return running;
}

/* In the child of a fork() that the work has made, the job is not finished here: the parent does
 * that. */
static bool pump_run_one(pump *p)
{
    fi_job *j = pump_pop(p), *outer = running;
    unsigned depth = fi_fork_depth();

    if (!j)
        return false;
    running = j;
    FI_SPAN(collect(&j->runnable));
    fi_job_run_work(j);
    running = outer;
    if (fi_fork_depth() != depth)
        return true;
    FI_SPAN(join(&j->self_group));
    fi_pending_done(&j->self_group, 1);
    return true;
}

void filch_job_set_pump(filch_job *job, filch_pump *p)
{
    if (job)
        fi_job_of(job, __func__)->pump = p;
}

static size_t pump_size(pump *p)
{
    size_t n;

    fi_lock_lock(&p->lock);
    n = p->n;
    fi_lock_unlock(&p->lock);
    return n;
}

/* Not what is put there meanwhile, or it might never end. */
size_t filch_pump_run(filch_pump *p)
{
    size_t max, n = 0;

    pump_check_caller();
    max = pump_size(pump_of(p));
    while (n < max && pump_run_one(pump_of(p)))
        n++;
    return n;
}

/* ---- until a job is done ---- */

/* The thread stands in the line of those who wait for the job, and who puts something into the pump wakes that
 * line. */
typedef struct pump_wait {
    pump *pump;
    fi_job *job;
} pump_wait;

static void pump_set_waits_at(pump *p, const void *address)
{
    fi_lock_lock(&p->lock);
    p->waits_at = address;
    fi_lock_unlock(&p->lock);
}

static bool pump_should_wait(void *arg)
{
    const pump_wait *w = arg;
    bool empty;

    fi_lock_lock(&w->pump->lock);
    empty = !w->pump->first;
    fi_lock_unlock(&w->pump->lock);
    return empty && fi_pending_has_waiters(&w->job->self_group.pending);
}

/* For the job, or for something to run. */
static int pump_wait_for_either(pump *p, fi_job *j, int64_t deadline)
{
    pump_wait w = {p, j};
    int e = 0;

    pump_set_waits_at(p, &j->self_group);
    if (fi_pending_set_waiters(&j->self_group.pending))
        e = fi_lot_wait((fi_wait_for){"job", &j->self_group}, true, pump_should_wait, &w, deadline);
    pump_set_waits_at(p, NULL);
    return e;
}

static bool has_passed(int64_t deadline)
{
    return deadline != INT64_MAX && fi_clock_now() >= deadline;
}

int filch_pump_wait_until(filch_pump *pump_, filch_job *job, int64_t deadline)
{
    pump *p = pump_of(pump_);
    int e = job ? 0 : -EINVAL;

    pump_check_caller();
    while (e == 0 && !filch_job_is_done(job))
        if (has_passed(deadline))
            e = -ETIMEDOUT;
        else if (!pump_run_one(p))
            e = pump_wait_for_either(p, fi_job_owned(job, __func__), deadline);
    return e < 0 ? e : filch_job_wait(job);
}
