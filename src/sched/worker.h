/* A worker: an OS thread with its queues.  This is the map of the scheduler; each room's part of it is
 * a file of that name. */
#ifndef FI_SCHED_WORKER_H
#define FI_SCHED_WORKER_H

#include "base/cache.h"
#include "base/rng.h"
#include "deque/deque.h"
#include "sched/config.h"
#include "sched/counters.h"
#include "sched/fiber.h"
#include "sched/idle.h"
#include "sched/next.h"
#include "sched/queue.h"
#include "sched/record.h"
#include "stack/stack.h"
#include "stack/watch.h"

#include <pthread.h>
#include <stdbool.h>

typedef struct fi_runtime fi_runtime;

#define FI_RING_CAPACITY                                                                           \
    256 /* fibers that are ready, for each worker; the others go to the global queue */

struct fi_worker {
    /* Fixed while the runtime runs. */
    fi_runtime *runtime;
    unsigned index;
    fi_deque
        *deque; /* work that never ran: tickets.  LIFO for the worker, thieves take the oldest */
    fi_deque *ring; /* fibers that are ready again.  FIFO */
    pthread_t thread;
    fi_cxx *cxx; /* where its thread keeps the state of C++ */

    /* Written by the worker, read by those who search. */
    FI_CACHE_ALIGNED FI_ATOMIC(fi_fork *) current; /* of the fiber that it runs */

    /* The worker puts, everybody takes. */
    FI_CACHE_ALIGNED FI_ATOMIC(fi_runnable *) next;

    /* Written by anybody. */
    FI_CACHE_ALIGNED fi_queue inbox;
    fi_sleeper sleeper;

    /* The worker's own. */
    FI_CACHE_ALIGNED fi_ctx home; /* its thread's own stack, where it chooses what to run */
    fi_cxx cxx_home;
    fi_stack_watch watch;
    bool watched; /* without it an overflow is a bare SIGSEGV: no reason not to run */
    fi_stack_cache stacks;
    fi_record_pool records;
    fi_fiber *warm_fibers; /* nothing to run, but a stack; the warmest first */
    fi_fiber *bare_fibers; /* no stack either */
    unsigned warm_fibers_n;
    unsigned tick; /* how often it looked for work */
    fi_rng rng;
    bool (*park_commit)(fi_fiber *f, void *arg); /* the fiber that comes back wants to park */
    void *park_arg;
    fi_counters counters;
};

/* All there is of one runtime, from start to stop. */
struct fi_runtime {
    fi_settings settings;
    unsigned workers_n;
    fi_worker *workers;
    fi_stack_pool stack_pool;
    unsigned *strides; /* numbers coprime to workers_n, for visits in random order */
    unsigned strides_n;
    FI_CACHE_ALIGNED FI_ATOMIC(uint32_t) stopping;
    FI_ATOMIC(uint32_t) inbox_turn; /* whose inbox gets the next piece of work from outside */
    bool orphaned;                  /* we are the child of a fork(): its workers are gone */
    fi_queue global;
    fi_idle idle;
    fi_record_share records;
    fi_lock fibers_lock;
    fi_fiber *fibers; /* all that were made */
};

/* [any] The calling thread's worker, NULL when it is none.  Ask again after anything that may park. */
fi_worker *fi_worker_self(void);

/* [worker thread] Run until the runtime stops. */
void *fi_worker_main(void *worker);

/* [worker thread, in the child of a fork()] It is no worker any more. */
void fi_worker_forget_self(void);

/* [any] Set up and tear down all but the thread. */
int fi_worker_init(fi_worker *w, fi_runtime *rt, unsigned index);
void fi_worker_fini(fi_worker *w);

/* [worker] There is no memory to run this now: leave it to whoever can, and wait a little. */
void fi_worker_set_aside(fi_worker *w, fi_runnable *r);

/* [worker] The next thing to run; NULL when the runtime stops.  find_work.c */
fi_runnable *fi_find_work(fi_worker *w);

/* [any] Give work to the runtime.  ready.c
 * fi_ready: a fiber that parked may go on.
 * fi_submit: work from a thread that is no worker. */
void fi_ready(fi_runtime *rt, fi_fiber *f);
void fi_submit(fi_runtime *rt, fi_runnable *r);

/* [any] How many of n in the global queue one worker takes at once.  find_work.c */
size_t fi_global_share(size_t n, unsigned workers, size_t ring);

/* [worker] Put a ready fiber into the ring, or where there is room. */
void fi_ring_push(fi_worker *w, fi_runnable *r);

/* [worker] Wake somebody for work that was just made findable, and count it. */
void fi_notify(fi_worker *w);

#endif
