/* Spare threads, for calls that block: so many at the max, made when they are needed, gone when they were idle for
 * some seconds.  What comes when all are busy waits its turn. */
#ifndef FI_IO_BLOCKING_POOL_H
#define FI_IO_BLOCKING_POOL_H

#include "base/lock.h"
#include "sched/wait.h"

#include <pthread.h>

/* On the stack of the fiber that waits for it.  Or elsewhere: then the fiber may leave before it is done, and the call is
 * the thread's from then on, who has it forgotten. */
typedef struct fi_blocking_call fi_blocking_call;
struct fi_blocking_call {
    int64_t (*call)(void *arg);
    void *arg;
    int64_t result;
    void (*release)(fi_blocking_call *c); /* NULL: it is on a stack, and waited for */
    fi_blocking_call *next;
    fi_biased_lock latch;
    fi_line caller;
    bool done, failed;
    bool abandoned; /* by its caller */
};

typedef struct fi_blocking_thread fi_blocking_thread;

typedef struct fi_blocking_pool {
    fi_runtime *runtime;
    unsigned max;
    char name[16];
    fi_lock lock; /* guards the rest */
    unsigned n;   /* threads */
    fi_blocking_thread *idle;
    fi_blocking_call *first, *last; /* that wait their turn */
    bool any_ended;
    pthread_t
        ended; /* the last thread that has ended, or is about to; it has joined the one before */
    bool stopping;
    FI_ATOMIC(uint32_t) all_ended;
} fi_blocking_pool;

/* [any] */
void fi_blocking_pool_init(fi_blocking_pool *s, fi_runtime *rt);

/* [when nobody calls any more] Ends all threads, and waits for that. */
void fi_blocking_pool_fini(fi_blocking_pool *s);

/* [fiber] Run call(arg) on a spare thread, and wait for it.  0, and its result; -EAGAIN: there is no thread, and none can
 * be made. */
int fi_blocking_pool_run(fi_blocking_pool *s, int64_t (*call)(void *arg), void *arg,
                         int64_t *result);

/* [fiber] The same for a call that can be abandoned.  0: it is done, and still ours; -EAGAIN: the same, without a result; -ETIMEDOUT,
 * -ECANCELED, -ENOMEM: it was abandoned, and is not to be touched any more. */
int fi_blocking_pool_run_until(fi_blocking_pool *s, fi_blocking_call *c, int64_t deadline_ns);

#endif
