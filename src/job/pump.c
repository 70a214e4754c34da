/* Jobs that one thread runs when it likes: a list behind a lock, and a word to sleep on. */
#include "job/job.h"

#include "base/futex.h"
#include "base/lock.h"
#include "base/mistake.h"

#include <errno.h>

/* The same layout as filch_pump. */
typedef struct pump {
    fi_runnable *first, *last;
    fi_lock lock;
    FI_ATOMIC(uint32_t) n; /* how many were ever put, for who sleeps */
} pump;

_Static_assert(sizeof(pump) == sizeof(filch_pump), "one layout");

static pump *pump_of(filch_pump *p)
{
    return (pump *)(void *)p;
}

/* The wake-up under the lock: once the job is done, the pump may be gone. */
void fi_pump_put(filch_pump *pump_, fi_job *j)
{
    pump *p = pump_of(pump_);

    j->runnable.next = NULL;
    fi_lock_lock(&p->lock);
    if (p->first)
        p->last->next = &j->runnable;
    else
        p->first = &j->runnable;
    p->last = &j->runnable;
    fi_fetch_add_relaxed(&p->n, 1u);
    fi_futex_wake(&p->n, 1);
    fi_lock_unlock(&p->lock);
}

static fi_job *take(pump *p)
{
    fi_runnable *r;

    fi_lock_lock(&p->lock);
    r = p->first;
    if (r)
        p->first = r->next;
    fi_lock_unlock(&p->lock);
    return (fi_job *)(void *)r;
}

static void check_caller(void)
{
    if (fi_worker_self())
        fi_mistake("a pump is for one thread, and this is a fiber, which has none of its own");
}

/* One job's work may pump in turn. */
static _Thread_local fi_job *running;

fi_job *fi_pump_running(void)
{
    return running;
}

static bool run_one(pump *p)
{
    fi_job *j = take(p), *outer = running;

    if (!j)
        return false;
    running = j;
    fi_job_work(j);
    running = outer;
    fi_group_end(&j->own, 1);
    return true;
}

void filch_job_pump(filch_job *job, filch_pump *p)
{
    fi_job_of(job)->pump = p;
}

size_t filch_pump_run(filch_pump *p)
{
    size_t n = 0;

    check_caller();
    while (run_one(pump_of(p)))
        n++;
    return n;
}

/* ---- until a job is done ---- */

static void do_nothing(void *arg)
{
    (void)arg;
}

/* A job that comes after it, and so comes here when it is done, however it ended.  Its own end does not give the
 * other up, as it has no link that would say so. */
static int ask_to_be_woken(filch_pump *p, filch_job *job)
{
    filch_job *bell = filch_job_new(do_nothing, NULL);
    int e;

    if (!bell)
        return -ENOMEM;
    filch_job_pump(bell, p);
    e = filch_job_after(bell, job);
    fi_store_relaxed(&fi_job_of(bell)->has_link, 0);
    filch_job_submit(bell);
    filch_job_release(bell);
    return e;
}

/* Something has come since `seen`, or the deadline. */
static int sleep_until(pump *p, uint32_t seen, int64_t deadline)
{
    if (fi_futex_wait(&p->n, seen, deadline) != -ETIMEDOUT)
        return 0;
    return -ETIMEDOUT;
}

int filch_pump_until(filch_pump *pump_, filch_job *job, int64_t deadline)
{
    pump *p = pump_of(pump_);
    bool asked = false;
    int e = 0;

    check_caller();
    while (e == 0 && !filch_job_is_done(job)) {
        uint32_t seen = fi_load_relaxed(&p->n);
        if (run_one(p))
            continue;
        if (asked)
            e = sleep_until(p, seen, deadline);
        else
            e = ask_to_be_woken(pump_, job);
        asked = true;
    }
    return filch_job_is_done(job) ? filch_job_wait(job) : e;
}
