/* A hash table of lists, each with its lock and the callers that wait for one of its calls. */
#include "fiber/timer_calls.h"

#include "base/at_fork.h"
#include "wait/wake_list.h"

#include <stddef.h>
#include <string.h>

#define BUCKETS 64u /* a power of two */

typedef struct bucket {
    FI_CACHE_ALIGNED fi_biased_lock lock;
    fi_waitq waiters;
    fi_timer_call *first;
} bucket;

static bucket buckets[BUCKETS];
static FI_ATOMIC(uint64_t) last_id;

static bucket *bucket_of(uint64_t timer)
{
    return &buckets[timer % BUCKETS];
}

/* Relaxed: only the value counts. */
uint64_t fi_timer_id_new(void)
{
    return fi_fetch_add_relaxed(&last_id, UINT64_C(1)) + 1;
}

void fi_timer_calls_add(fi_timer_call *c, uint64_t timer)
{
    bucket *b = bucket_of(timer);

    c->timer = timer;
    fi_obj_lock(&b->lock);
    c->next = b->first;
    b->first = c;
    fi_obj_unlock(&b->lock);
}

void fi_timer_calls_begin(fi_timer_call *c, const fi_fiber *f)
{
    bucket *b = bucket_of(c->timer);

    fi_obj_lock(&b->lock);
    c->fiber = f;
    fi_obj_unlock(&b->lock);
}

/* All waiters of the bucket check again. */
void fi_timer_calls_remove(fi_timer_call *c)
{
    bucket *b = bucket_of(c->timer);
    fi_timer_call **at = &b->first;
    fi_wake_list woken = {0};

    fi_obj_lock(&b->lock);
    while (*at != c)
        at = &(*at)->next;
    *at = c->next;
    fi_wake_list_take_all(&woken, &b->waiters, 0);
    fi_obj_unlock(&b->lock);
    fi_wake_list_wake(woken);
}

/* [lock held] f: NULL: on any fiber, or not begun. */
static bool bucket_contains(const bucket *b, uint64_t timer, const fi_fiber *f)
{
    for (const fi_timer_call *c = b->first; c; c = c->next)
        if (c->timer == timer && (!f || c->fiber == f))
            return true;
    return false;
}

bool fi_timer_calls_contain(uint64_t timer, const fi_fiber *f)
{
    bucket *b = bucket_of(timer);
    bool found;

    fi_obj_lock(&b->lock);
    found = bucket_contains(b, timer, f);
    fi_obj_unlock(&b->lock);
    return found;
}

void fi_timer_calls_wait(uint64_t timer, const void *object)
{
    bucket *b = bucket_of(timer);

    fi_obj_lock(&b->lock);
    while (bucket_contains(b, timer, NULL)) {
        fi_waiter w = {.uncancellable = true};
        fi_waitq_wait(&w, &b->waiters, &b->lock, (fi_wait_reason){"timer", object}, FI_TIMER_NEVER);
        fi_obj_lock(&b->lock);
    }
    fi_obj_unlock(&b->lock);
}

/* [child of a fork] The other fibers do not exist. */
static void reset_buckets(void)
{
    memset(buckets, 0, sizeof buckets);
}

__attribute__((constructor)) static void register_at_fork(void)
{
    fi_at_fork(FI_FORK_TIMER_CALLS, NULL, reset_buckets);
}
