/* The handle of a fiber: what its starter waits for, and what others call it by.  Most fibers have none. */
#ifndef FI_FIBER_HANDLE_H
#define FI_FIBER_HANDLE_H

#include "base/fatal.h"
#include "base/tag.h"
#include "sched/worker.h"
#include "wait/waitq.h"

#include <filch/fiber.h>

/* It is two parties': the fiber's, until it ends, and its starter's, until that joins or detaches.  The second frees it. */
struct fi_handle {
    fi_runnable runnable; /* first: what stands in a queue until it is begun */
    uint32_t generation;  /* number of earlier handles in this record: the tag of users' handles */
    bool ended, detached, cancelled;
    void *(*body)(void *arg);
    void *arg; /* and then what body returned */
    const char *name;
    fi_stack *stack; /* of a size of its own; NULL: any */
    fi_biased_lock
        lock; /* stays as it is when the memory is another's: mostly the same worker's again */
    fi_waitq joiner;
    fi_fiber *fiber;  /* while it runs */
    uint64_t runtime; /* the number of its runtime, which may be gone */
};

_Static_assert(sizeof(fi_handle) <= FI_HANDLE_RECORD, "a handle is a record");
_Static_assert(offsetof(fi_handle, generation) + sizeof(uint32_t) <= FI_RECORD_HEAD,
               "it outlives the handle");

/* [any] The handle that the user gets. */
static inline filch_fiber *fi_handle_shown(const fi_handle *h)
{
    return fi_tag_handle(h, h->generation);
}

/* [user, in this function of the API] NULL: the user gave NULL. */
static inline fi_handle *fi_handle_of(const filch_fiber *f, const char *function)
{
    fi_handle *h = fi_tag_record(f);

    if (!f)
        return NULL;
    if (FI_UNLIKELY(!fi_tag_is_of(f, h->generation)))
        fi_fatal("%s: the handle was already joined or detached", function);
    return h;
}

/* [any; w: of the caller, NULL: it has none] A new one, of the starter's; NULL: no memory. */
fi_handle *fi_handle_new(fi_runtime *rt, fi_worker *w);

/* [fiber, at its beginning] It is this one's.  At its end: it is over, with that result. */
void fi_handle_begin(fi_handle *h, fi_fiber *f);
void fi_handle_end(fi_handle *h, void *result);

#endif
