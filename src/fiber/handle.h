/* The handle of a fiber, for joining, detaching and cancelling it.  Detached fibers started with
 * filch_go have none until they call filch_fiber_self. */
#ifndef FI_FIBER_HANDLE_H
#define FI_FIBER_HANDLE_H

#include "base/fatal.h"
#include "base/tag.h"
#include "sched/worker.h"
#include "wait/waitq.h"

#include <filch/fiber.h>

/* Shared by the fiber, until it ends, and its starter, until it joins or detaches.  The last of the
 * two frees it. */
struct fi_handle {
    fi_runnable runnable; /* first: the queue entry until the fiber starts */
    uint32_t generation;  /* number of earlier handles in this record: the tag of users' handles */
    bool ended, detached, cancelled;
    void *(*body)(void *arg);
    void *arg; /* after the end: the result of body */
    const char *name;
    /* Not reset when the record is reused: the bias is usually for the same worker again. */
    fi_biased_lock lock;
    fi_waitq joiner;
    fi_fiber *fiber;  /* while it runs */
    uint64_t runtime; /* number of its runtime, which may have stopped */
    fi_at_end at_end; /* of the fiber */
};

_Static_assert(sizeof(fi_handle) <= FI_RECORD_SIZE(FI_RECORD_HANDLE),
               "a handle must fit into a record");
_Static_assert(offsetof(fi_handle, generation) + sizeof(uint32_t) <= FI_RECORD_HEAD,
               "the generation must outlive the handle");

/* [any] The tagged handle that the user gets. */
static inline filch_fiber *fi_handle_to_user(const fi_handle *h)
{
    return fi_tag_handle(h, h->generation);
}

/* [public function of this name] The handle behind what the user passed; NULL for NULL. */
static inline fi_handle *fi_handle_of(const filch_fiber *f, const char *function)
{
    fi_handle *h = fi_tag_record(f);

    if (!f)
        return NULL;
    if (FI_UNLIKELY(!fi_tag_is_of(f, h->generation)))
        fi_fatal("%s: the handle was already joined or detached", function);
    return h;
}

/* [any; w: the caller's worker, or NULL] A new handle, owned by the starter; NULL: no memory. */
fi_handle *fi_handle_new(fi_runtime *rt, fi_worker *w);

/* [fiber] Attach the handle.  When the work of the fiber ends, the joiner is woken. */
void fi_handle_begin(fi_handle *h, fi_fiber *f);

#endif
