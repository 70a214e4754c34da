/* What tells of things that come from outside the process: made by the room that needs it, when it first does (L2 knows
 * it by these calls alone), and freed with the runtime.
 *
 * Nobody owns it.  Workers ask it when they have nothing else to do, and now and then; and while workers sleep, one of
 * them blocks in it (sched/idle.h).
 */
#ifndef FI_SCHED_POLLER_H
#define FI_SCHED_POLLER_H

#include "base/atomic.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct fi_poller fi_poller;
typedef struct fi_runtime fi_runtime;
typedef struct fi_worker fi_worker;

struct fi_poller {
    const char *name; /* for people */
    int fd;           /* readable while there are events */
    /* [worker] Wait until something has come, or the deadline (FI_POLL_NOW: do not wait), or, in somebody who waits, an
     * interrupt.  If something has come: call awake(arg), unless that is NULL, then make ready who waited for it.
     * How many things have come; 0: nothing; -ETIMEDOUT. */
    int (*poll)(fi_poller *p, int64_t deadline_ns, void (*awake)(void *arg), void *arg);
    /* [any] Who waits in there, now or later, comes out. */
    void (*interrupt)(fi_poller *p);
    /* [when no worker runs] */
    void (*free)(fi_poller *p);
    FI_ATOMIC(uint32_t) polling_now; /* somebody does, without waiting: others need not */
};

#define FI_POLL_NOW INT64_MIN

/* [any] That of a runtime; NULL: none yet.
 * fi_poller_set: this one, unless there is one already; the one that it is. */
fi_poller *fi_poller_get(fi_runtime *rt);
fi_poller *fi_poller_set(fi_runtime *rt, fi_poller *p);

/* [worker] Ask, without waiting, if nobody else does.  True: something has come, and may be among what is ready here. */
bool fi_poller_poll(fi_worker *w);

#endif
