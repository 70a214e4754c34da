/* Poller: the source of events from outside the process.  src/io makes it when it is first needed,
 * and the scheduler knows it only by these functions.  It is freed with the runtime.
 *
 * No worker owns it.  Workers poll when they have nothing else to do, and at intervals.  While
 * workers sleep, one of them blocks in it (sched/idle.h).
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
    const char *name; /* for messages */
    int fd;           /* readable while there are events */
    /* [worker] Wait for events until the deadline (FI_POLL_NOW: do not wait).  An interrupt ends a
     * wait.  If there are events: call awake(arg), unless awake is NULL, then make their waiters
     * ready.
     * Returns: the number of events; 0: none; -ETIMEDOUT. */
    int (*poll)(fi_poller *p, int64_t deadline_ns, void (*awake)(void *arg), void *arg);
    /* [any] End the wait of the thread that waits in poll, now or later. */
    void (*interrupt)(fi_poller *p);
    /* [called when no worker runs] */
    void (*free)(fi_poller *p);
    FI_ATOMIC(uint32_t) polling_now; /* a worker polls without waiting: others need not */
};

#define FI_POLL_NOW INT64_MIN

/* [any] The poller of the runtime; NULL: none yet.
 * fi_poller_set: set p, unless there is one already.  Returns the poller that is used. */
fi_poller *fi_poller_get(fi_runtime *rt);
fi_poller *fi_poller_set(fi_runtime *rt, fi_poller *p);

/* [worker] Poll without waiting, if no other worker does.  True: there were events, and the own run
 * queue may have ready fibers. */
bool fi_poller_poll(fi_worker *w);

#endif
