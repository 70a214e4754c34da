/* Spare threads, for calls that block: so many at the most, made when they are needed, gone when they were idle for
 * some seconds.  What comes when all are busy waits its turn. */
#ifndef FI_IO_SPARES_H
#define FI_IO_SPARES_H

#include "base/lock.h"
#include "sched/wait.h"

#include <pthread.h>

/* On the stack of the fiber that waits for it.  Or elsewhere: then the fiber may leave before it is done, and the call is
 * the thread's from then on, who has it forgotten. */
typedef struct fi_spare_call fi_spare_call;
struct fi_spare_call {
    int64_t (*call)(void *arg);
    void *arg;
    int64_t result;
    void (*forget)(fi_spare_call *c); /* NULL: it is on a stack, and waited for */
    fi_spare_call *next;
    fi_biased_lock latch;
    fi_line caller;
    bool done, failed;
    bool left; /* by its caller */
};

typedef struct fi_spare fi_spare;

typedef struct fi_spares {
    fi_runtime *runtime;
    unsigned most;
    char name[16];
    fi_lock lock; /* guards the rest */
    unsigned n;   /* threads */
    fi_spare *idle;
    fi_spare_call *first, *last; /* that wait their turn */
    bool any_ended;
    pthread_t
        ended; /* the last thread that has ended, or is about to; it has joined the one before */
    bool stopping;
    FI_ATOMIC(uint32_t) all_ended;
} fi_spares;

/* [any] */
void fi_spares_init(fi_spares *s, fi_runtime *rt);

/* [when nobody calls any more] Ends all threads, and waits for that. */
void fi_spares_fini(fi_spares *s);

/* [fiber] Run call(arg) on a spare thread, and wait for it.  0, and its result; -EAGAIN: there is no thread, and none can
 * be made. */
int fi_spares_run(fi_spares *s, int64_t (*call)(void *arg), void *arg, int64_t *result);

/* [fiber] The same for a call that can be left.  0: it is done, and still ours; -EAGAIN: the same, without a result; -ETIMEDOUT,
 * -ECANCELED, -ENOMEM: it was left, and is not to be touched any more. */
int fi_spares_run_until(fi_spares *s, fi_spare_call *c, int64_t deadline_ns);

#endif
