/* A thread that waits for its own work may as well do it.
 *
 * To wake a worker takes 50 us, and what the thread has in its caches is then needed elsewhere.  So a thread
 * from outside borrows a worker whose thread sleeps, and runs its work at once, on a fiber like any other.  It
 * is a full worker meanwhile: others steal from it, and when the work has to wait for what they took, the guest
 * looks for something else to do.  That is only what its own work cannot be over without: parts of what it
 * waits for, and anything while nobody else uses the runtime.  All else could keep the guest when it should return.
 *
 * Workers that are pinned to a CPU are not lent: a guest runs where it wants.  And who wants nothing to run in
 * his own threads says so (filch_config.guests).
 */
#ifndef FI_SCHED_CALLER_RUNS_H
#define FI_SCHED_CALLER_RUNS_H

#include "sched/worker.h"

/* [any thread that is no worker, between fi_runtime_enter and fi_runtime_leave] Run this and what it leads to
 * until *done is not 0, or there is nothing to do, or there is something that is not ours.  False: no worker
 * sleeps, and nothing was done. */
bool fi_caller_run(fi_runtime *rt, fi_runnable *r, FI_ATOMIC(uint32_t) * done);

/* [guest] It has found this.  False: it is not ours, and now where others find it. */
bool fi_borrower_may_run_other(fi_worker *w, fi_runnable *r);
static inline bool fi_borrower_may_run(fi_worker *w, fi_runnable *r)
{
    const fi_fiber *root = w->attached->root_fiber; /* NULL: there was no memory for it yet */

    if (root && r->of && r->of == fi_load_relaxed(&root->wait_key) &&
        fi_shared_queue_size(&w->runtime->high_queue) == 0)
        return true;
    return fi_borrower_may_run_other(w, r);
}

#endif
