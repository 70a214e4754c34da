/* The handle of a fiber: what its starter waits for, and what others call it by.  Most fibers have none. */
#ifndef FI_SCHED_HANDLE_H
#define FI_SCHED_HANDLE_H

#include "sched/wait.h"
#include "sched/worker.h"

#include <filch/fiber.h>

/* It is two parties': the fiber's, until it ends, and its starter's, until that joins or detaches.  The second frees it. */
struct filch_fiber {
    fi_runnable runnable; /* first: what stands in a queue until it is begun */
    void *(*body)(void *arg);
    void *arg; /* and then what body returned */
    filch_fiber_attr attr;
    fi_latch
        latch; /* stays as it is when the memory is another's: mostly the same worker's again */
    fi_line joiner;
    fi_fiber *fiber;  /* while it runs */
    uint64_t runtime; /* the number of its runtime, which may be gone */
    bool ended, detached, cancelled;
};

_Static_assert(sizeof(filch_fiber) <= FI_HANDLE_RECORD, "a handle is a record");

/* [any; w: of the caller, NULL: it has none] A new one, of the starter's; NULL: no memory. */
filch_fiber *fi_handle_new(fi_runtime *rt, fi_worker *w);

/* [when no worker runs] Is somebody yet to join or detach one?  Then their records stay. */
bool fi_handles_are_open(const fi_runtime *rt);
void fi_handles_fini(const fi_runtime *rt, fi_record_pool *p);

/* [fiber, at its beginning] It is this one's.  At its end: it is over, with that result. */
void fi_handle_begin(filch_fiber *h, fi_fiber *f);
void fi_handle_end(filch_fiber *h, void *result);

#endif
