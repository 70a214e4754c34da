/* The next slot of a worker: the fiber made ready last, which runs next.  The worker puts, and everybody
 * takes, as the worker may be busy for long. */
#ifndef FI_SCHED_NEXT_H
#define FI_SCHED_NEXT_H

#include "base/atomic.h"
#include "sched/runnable.h"

#include <stddef.h>

/* [worker] What stood there, NULL: nothing.
 * -> next.steal: a thief that takes the fiber must see its saved context. */
static inline fi_runnable *fi_next_put(FI_ATOMIC(fi_runnable *) * next, fi_runnable *r)
{
    return fi_exchange_release(next, r, next.put);
}

/* [worker] NULL: nothing.  Relaxed: what the worker takes, the worker has put. */
static inline fi_runnable *fi_next_take(FI_ATOMIC(fi_runnable *) * next)
{
    fi_runnable *r = fi_load_relaxed(next);

    return r && fi_cas_relaxed(next, &r, NULL) ? r : NULL;
}

/* [thief] NULL: nothing, or others were faster.  <- next.put */
static inline fi_runnable *fi_next_steal(FI_ATOMIC(fi_runnable *) * next)
{
    fi_runnable *r = fi_load_relaxed(next);

    return r && fi_cas_acquire(next, &r, NULL, next.steal) ? r : NULL;
}

#endif
