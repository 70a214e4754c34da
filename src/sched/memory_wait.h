/* Unstarted work that waits for memory for a stack.
 *
 * Unstarted work is a small record.  It gets a stack when a worker runs it, and there may be no
 * memory for one then.  The record is pushed to a queue of its own, and is taken from there
 *
 *     by a fiber that has just ended, on its own stack;
 *     by a worker that has a stack in its caches;
 *     by a worker that could map one, which is tried again at growing intervals.
 *
 * So a worker does not sleep with a stack in its caches while a record waits, and does not spin
 * while it has none.  The runtime maps its first stacks when it starts, so there is always one to
 * wait for.  When no record has been taken for a while, one message says how many wait.
 *
 * A fiber with a stack size of its own gets its stack when it is started (fiber/start.c), and never
 * waits here.
 */
#ifndef FI_SCHED_MEMORY_WAIT_H
#define FI_SCHED_MEMORY_WAIT_H

#include "sched/worker.h"

/* [worker] There is no stack to run this on. */
void fi_memory_wait_push(fi_worker *w, fi_runnable *r);

/* [any] The number of records that wait. */
static inline size_t fi_memory_wait_size(fi_runtime *rt)
{
    return fi_shared_queue_size(&rt->memory_wait.queue);
}

/* [any] Was a record pushed since the worker last checked?  Before a sleep: call after a fence. */
static inline bool fi_memory_wait_is_unseen(fi_worker *w)
{
    return fi_load_relaxed(&w->runtime->memory_wait.pushes) !=
           fi_load_relaxed(&w->memory_wait_seen);
}

/* [worker] A record that the worker now has a stack for; NULL: none waits, or there is still no
 * memory. */
fi_runnable *fi_memory_wait_take_slow(fi_worker *w);
static inline fi_runnable *fi_memory_wait_take(fi_worker *w)
{
    return fi_memory_wait_is_unseen(w) || fi_memory_wait_size(w->runtime) > 0
               ? fi_memory_wait_take_slow(w)
               : NULL;
}

/* [fiber that has ended its work] A record to run on the same stack; NULL: none waits. */
static inline fi_runnable *fi_memory_wait_take_here(fi_worker *w)
{
    return fi_memory_wait_size(w->runtime) > 0 ? fi_shared_queue_pop(&w->runtime->memory_wait.queue)
                                               : NULL;
}

/* [worker, before it sleeps] The earlier of its deadline and of its next attempt to map a stack. */
static inline int64_t fi_memory_wait_deadline(fi_worker *w, int64_t deadline_ns)
{
    return fi_memory_wait_size(w->runtime) > 0 && w->stack_retry_ns < deadline_ns
               ? w->stack_retry_ns
               : deadline_ns;
}

#endif
