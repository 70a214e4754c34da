/* Caller runs: a thread that waits for its own work runs it.
 *
 * To wake a worker takes 50 us, and the data of the work is in the caches of the caller.  So a
 * thread that is not a worker borrows a worker whose thread sleeps, and runs its work at once, on a
 * fiber.  The borrowed worker is a full worker: others steal from it.  When the work has to wait
 * for stolen tasks, the borrower searches other work.  It runs only work that its own work needs
 * in order to end: parts of the object that it waits for, and any work while it is the only user of
 * the runtime.  Other work could keep the borrower when it should return.
 *
 * Workers that are pinned to a CPU are not lent, because a borrower is not pinned.  A program can
 * turn this off (filch_config.caller_runs).
 */
#ifndef FI_SCHED_CALLER_RUNS_H
#define FI_SCHED_CALLER_RUNS_H

#include "sched/worker.h"

/* [any thread that is not a worker, between fi_runtime_enter and fi_runtime_leave] Run r and the
 * work that follows from it until *done is not 0, or there is nothing to do, or there is work that
 * a borrower may not run.  False: no worker sleeps, and nothing was done. */
bool fi_caller_run(fi_runtime *rt, fi_runnable *r, FI_ATOMIC(uint32_t) * done);

/* [borrower] May it run r, which it has found?  False: no, and r was pushed to the global queue. */
bool fi_borrower_may_run_other(fi_worker *w, fi_runnable *r);
static inline bool fi_borrower_may_run(fi_worker *w, fi_runnable *r)
{
    const fi_fiber *root = w->attached->root_fiber; /* NULL: there was no memory for it yet */

    if (root && r->wait_key && r->wait_key == fi_load_relaxed(&root->wait_key) &&
        fi_shared_queue_size(&w->runtime->high_queue) == 0)
        return true;
    return fi_borrower_may_run_other(w, r);
}

#endif
