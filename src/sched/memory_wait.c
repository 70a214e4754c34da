/* The queue of work that waits for memory for a stack, and the message about it.  Called by
 * sched/find_work.c and sched/worker.c. */
#include "sched/memory_wait.h"

#include "base/clock.h"
#include "base/message.h"

#define RETRY_MIN_NS 1000000
#define RETRY_MAX_NS 64000000
#define REPORT_NS    200000000 /* without a stack for any record, until a message reports it */

/* Wake all workers, as any of them may have a stack. */
void fi_memory_wait_push(fi_worker *w, fi_runnable *r)
{
    fi_memory_wait *m = &w->runtime->memory_wait;

    if (fi_shared_queue_size(&m->queue) == 0) {
        fi_store_relaxed(&m->since_ns, fi_clock_now());
        fi_store_relaxed(&m->is_reported, 0u);
    }
    fi_shared_queue_push(&m->queue, r);
    fi_fetch_add_relaxed(&m->pushes, 1u);
    fi_idle_wake_all(&w->runtime->idle);
}

static void report_memory_wait(fi_runtime *rt, int64_t now_ns)
{
    fi_memory_wait *m = &rt->memory_wait;
    uint32_t no = 0;

    if (now_ns - fi_load_relaxed(&m->since_ns) < REPORT_NS ||
        !fi_cas_relaxed(&m->is_reported, &no, 1u))
        return;
    fi_message(FILCH_LEVEL_WARNING,
               "%zu fibers wait for memory for a stack (%zu bytes each); free memory, raise the "
               "limit (ulimit -v) or lower stack_size",
               fi_shared_queue_size(&m->queue), rt->settings.stack_size);
}

static void stack_retry_later(fi_worker *w, int64_t now_ns)
{
    int64_t delay = 2 * w->stack_retry_delay_ns;

    if (delay < RETRY_MIN_NS)
        delay = RETRY_MIN_NS;
    w->stack_retry_delay_ns = delay < RETRY_MAX_NS ? delay : RETRY_MAX_NS;
    w->stack_retry_ns = now_ns + w->stack_retry_delay_ns;
    report_memory_wait(w->runtime, now_ns);
}

/* Is there a stack that the worker certainly gets?  Memory may also have become free outside of the
 * runtime. */
static bool worker_has_stack(fi_worker *w)
{
    int64_t now;
    fi_fiber *f;

    if (w->fiber_cache || w->stacks.warm)
        return true;
    now = fi_clock_now();
    if (now < w->stack_retry_ns)
        return false;
    f = fi_fiber_acquire(w);
    if (!f) {
        stack_retry_later(w, now);
        return false;
    }
    fi_fiber_release(w, f);
    return true;
}

/* A borrower leaves the records to the worker's own thread. */
fi_runnable *fi_memory_wait_take_slow(fi_worker *w)
{
    fi_memory_wait *m = &w->runtime->memory_wait;

    if (w->attached->is_borrower)
        return NULL;
    fi_store_relaxed(&w->memory_wait_seen, fi_load_relaxed(&m->pushes));
    if (fi_shared_queue_size(&m->queue) == 0 || !worker_has_stack(w))
        return NULL;
    w->stack_retry_delay_ns = 0;
    fi_store_relaxed(&m->since_ns, fi_clock_now());
    return fi_shared_queue_pop(&m->queue);
}
