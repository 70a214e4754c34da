/* Pumps: queues of jobs that a thread of the user runs. */
#include "base/at_fork.h"
#include "job/job.h"

#include "base/clock.h"
#include "base/fatal.h"
#include "base/lock.h"
#include "base/message.h"
#include "sched/span.h"
#include "wait/parking_lot.h"

#include <errno.h>
#include <stddef.h>

/* The same layout as filch_pump. */
typedef struct pump {
    fi_runnable *first, *last;
    const void *wait_key; /* parking address of its thread; NULL: it does not wait */
    fi_lock lock;
    uint32_t n; /* jobs in the queue */
} pump;

_Static_assert(sizeof(pump) == sizeof(filch_pump), "one layout");
_Static_assert(offsetof(pump, lock) == offsetof(filch_pump, lock_), "one layout");

static pump *pump_of(filch_pump *p)
{
    return (pump *)(void *)p;
}

/* After the unlock the job may be done, and the pump gone. */
void fi_pump_push(filch_pump *pump_, fi_job *j)
{
    pump *p = pump_of(pump_);
    const void *wait_key;

    j->runnable.next = NULL;
    fi_lock_lock(&p->lock);
    if (p->first)
        p->last->next = &j->runnable;
    else
        p->first = &j->runnable;
    p->last = &j->runnable;
    p->n++;
    wait_key = p->wait_key;
    fi_lock_unlock(&p->lock);
    if (wait_key)
        fi_parking_lot_wake_all(wait_key);
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

static void pump_check_caller(const char *function)
{
    if (fi_worker_self())
        fi_fatal("%s: called from a fiber; call it from the pump's thread", function);
}

/* The job that this thread runs.  Its work may run a pump in turn. */
static _Thread_local fi_job *running;

fi_job *fi_pump_running(void)
{
    return running;
}

/* If the work has forked, the job is not finished in the child: the parent process does that. */
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
    else
        fi_job_is_null(__func__, "job");
}

static int pump_is_null(const char *function)
{
    return fi_message_null(function, "p", "a pump");
}

static size_t pump_size(pump *p)
{
    size_t n;

    fi_lock_lock(&p->lock);
    n = p->n;
    fi_lock_unlock(&p->lock);
    return n;
}

/* Jobs that are pushed meanwhile do not count, or the call might never return. */
size_t filch_pump_run(filch_pump *p)
{
    size_t max, n = 0;

    pump_check_caller(__func__);
    if (!p) {
        pump_is_null(__func__);
        return 0;
    }
    max = pump_size(pump_of(p));
    while (n < max && pump_run_one(pump_of(p)))
        n++;
    return n;
}

/* ---- wait for a job ---- */

/* The thread parks at the address of the job's group.  A push to the pump wakes that address,
 * too. */
typedef struct pump_wait {
    pump *pump;
    fi_job *job;
} pump_wait;

static void pump_set_wait_key(pump *p, const void *address)
{
    fi_lock_lock(&p->lock);
    p->wait_key = address;
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

/* Wait until the job is done or another job can run. */
static int pump_wait_for_either(pump *p, fi_job *j, int64_t deadline)
{
    pump_wait w = {p, j};
    int e = 0;

    pump_set_wait_key(p, &j->self_group);
    if (fi_pending_set_waiters(&j->self_group.pending))
        e = fi_parking_lot_wait((fi_wait_reason){"job", &j->self_group}, true, pump_should_wait, &w,
                                deadline);
    pump_set_wait_key(p, NULL);
    return e;
}

static bool has_passed(int64_t deadline)
{
    return deadline != FILCH_FOREVER && fi_clock_now() >= deadline;
}

static int pump_wait_until(pump *p, filch_job *job, int64_t deadline, const char *function)
{
    int e = 0;

    pump_check_caller(function);
    if (!p || !job)
        return p ? fi_job_is_null(function, "job") : pump_is_null(function);
    while (e == 0 && !filch_job_is_done(job))
        if (has_passed(deadline))
            e = -ETIMEDOUT;
        else if (!pump_run_one(p))
            e = pump_wait_for_either(p, fi_job_owned(job, function), deadline);
    return e < 0 ? e : filch_job_wait(job);
}

int filch_pump_wait_until(filch_pump *p, filch_job *job, int64_t deadline)
{
    return pump_wait_until(pump_of(p), job, deadline, __func__);
}

int filch_pump_wait(filch_pump *p, filch_job *job)
{
    return pump_wait_until(pump_of(p), job, FILCH_FOREVER, __func__);
}
