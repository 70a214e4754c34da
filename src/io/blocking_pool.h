/* A pool of threads for calls that block.  Threads are started on demand up to a maximum, and
 * end after some idle seconds.  Further calls queue in FIFO order. */
#ifndef FI_IO_BLOCKING_POOL_H
#define FI_IO_BLOCKING_POOL_H

#include "base/lock.h"
#include "wait/waitq.h"

#include <pthread.h>

/* A call.  If it is on the stack of its caller, the caller waits until it has ended.  Otherwise
 * release is set, and the caller may abandon it: then the thread that runs it releases it. */
typedef struct fi_blocking_call fi_blocking_call;
struct fi_blocking_call {
    int64_t (*func)(void *arg);
    void *arg;
    int64_t result;
    void (*release)(fi_blocking_call *c);
    fi_blocking_call *next; /* in the queue */
    fi_biased_lock lock;    /* guards the rest, and the result */
    fi_waitq caller;
    bool done;
    bool failed; /* no thread could be started */
    bool abandoned;
};

typedef struct fi_blocking_thread fi_blocking_thread;

typedef struct fi_blocking_pool {
    fi_runtime *runtime;
    unsigned max_threads;
    char thread_name[16];
    fi_lock lock; /* guards the rest */
    unsigned n_threads;
    fi_blocking_thread *idle;       /* list */
    fi_blocking_call *first, *last; /* queue */
    bool any_exited;
    pthread_t last_exited; /* it has joined the thread that exited before it */
    bool stopping;
    FI_ATOMIC(uint32_t) all_exited;
} fi_blocking_pool;

/* [any] */
void fi_blocking_pool_init(fi_blocking_pool *p, fi_runtime *rt);

/* [when no calls are made any more] Stop all threads and wait for them. */
void fi_blocking_pool_fini(fi_blocking_pool *p);

/* [fiber] Run a call and wait for it.  If it cannot be abandoned, the deadline and cancellation
 * are ignored. Returns 0: it has ended; -EAGAIN: no thread could be started; -ETIMEDOUT,
 * -ECANCELED, -ENOMEM: it was abandoned, and the caller must not use it any more. */
int fi_blocking_pool_run(fi_blocking_pool *p, fi_blocking_call *c, int64_t deadline_ns);

#endif
