/* Starting a detached fiber in two steps, for timers. */
#ifndef FI_FIBER_START_H
#define FI_FIBER_START_H

#include "sched/worker.h"

/* [any; w: the caller's worker, or NULL] Allocate the record of a fiber that will run body(arg);
 * NULL: no memory.  Then either cancel it or submit it. */
fi_runnable *fi_start_prepare(fi_runtime *rt, fi_worker *w, void (*body)(void *arg), void *arg);
void fi_start_cancel(fi_runtime *rt, fi_worker *w, fi_runnable *r);

/* [worker] */
void fi_start_submit(fi_worker *w, fi_runnable *r);

#endif
