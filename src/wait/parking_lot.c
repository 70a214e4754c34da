/* A hash table of wait queues.  Two addresses may share a bucket, so a waker compares addresses. */
#include "wait/parking_lot.h"

#include "base/at_fork.h"
#include "base/compiler.h"
#include "sched/worker.h"
#include "wait/wake_list.h"

#include <stddef.h>
#include <string.h>

#define BUCKETS_LOG 8

typedef struct bucket {
    FI_CACHE_ALIGNED fi_biased_lock lock;
    fi_waitq waitq;
} bucket;

static bucket buckets[1 << BUCKETS_LOG];

static bucket *bucket_of(const void *address)
{
    return &buckets[((uintptr_t)address >> 2) * UINT64_C(0x9e3779b97f4a7c15) >> (64 - BUCKETS_LOG)];
}

/* [lock held] Remove the waiters of this address, in FIFO order. */
static fi_wake_list bucket_remove_all(bucket *b, const void *address)
{
    fi_wake_list list = {0};
    fi_waiter *w = b->waitq.first;
    const fi_waiter *last = w ? w->prev : NULL;
    bool more = w != NULL;

    while (more) {
        fi_waiter *next = w->next;
        more = w != last;
        if (w->reason.object == address) {
            fi_waitq_remove(w);
            fi_wake_list_append(&list, w);
        }
        w = next;
    }
    return list;
}

/* [lock held; released here] */
static FI_NOINLINE void bucket_wake_all(bucket *b, const void *address)
{
    fi_wake_list woken = bucket_remove_all(b, address);

    fi_obj_unlock(&b->lock);
    fi_wake_list_wake(woken);
}

/* The fast path: the bucket has one waiter. */
void fi_parking_lot_wake_all(const void *address)
{
    bucket *b = bucket_of(address);
    fi_waiter *w;

    fi_obj_lock(&b->lock);
    w = b->waitq.first;
    if (FI_UNLIKELY(!w || w->next != w || w->reason.object != address)) {
        bucket_wake_all(b, address);
        return;
    }
    w = fi_waitq_pop(&b->waitq);
    fi_obj_unlock(&b->lock);
    fi_waiter_wake(w);
}

/* A thread that borrows a worker runs the work that its root fiber waits for
 * (sched/caller_runs.h).  f: the caller; NULL: a thread that is not a worker. */
static void set_wait_key(fi_fiber *f, const void *address)
{
    if (f)
        fi_store_relaxed(&f->wait_key, address);
}

int fi_parking_lot_wait(fi_wait_reason reason, bool uncancellable, bool (*should_wait)(void *arg),
                        void *arg, int64_t deadline_ns)
{
    bucket *b = bucket_of(reason.object);
    fi_fiber *f = fi_fiber_self();
    fi_waiter w;
    int e = 0;

    fi_waiter_init(&w, NULL);
    w.uncancellable = uncancellable;
    w.result = 0;
    set_wait_key(f, reason.object);
    fi_obj_lock(&b->lock);
    if (should_wait(arg))
        e = fi_waitq_wait(&w, &b->waitq, &b->lock, reason, deadline_ns);
    else
        fi_obj_unlock(&b->lock);
    set_wait_key(f, NULL);
    return e;
}

/* [child of a fork] No waiter exists. */
static void reset_buckets(void)
{
    memset(buckets, 0, sizeof buckets);
}

__attribute__((constructor)) static void register_at_fork(void)
{
    fi_at_fork(FI_FORK_PARKING_LOT, NULL, reset_buckets);
}
