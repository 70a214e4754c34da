/* Barrier.  Each caller waits in the queue.  The last one wakes all. */
#include "sync/object.h"

#include "base/fatal.h"

/* The layout of filch_barrier. */
typedef struct barrier {
    fi_biased_lock lock;
    fi_waitq waiters;
    uint32_t count;  /* number of waiters */
    uint32_t wanted; /* n of the first waiter */
} barrier;

_Static_assert(sizeof(barrier) == sizeof(filch_barrier), "one layout");
_Static_assert(offsetof(barrier, waiters) == offsetof(filch_barrier, waiters_), "one layout");
_Static_assert(offsetof(barrier, count) == offsetof(filch_barrier, count_), "one layout");

/* [lock held] A waiter gives up.  It must not be counted by the next caller. */
static void barrier_abandon(fi_waiter *w)
{
    ((barrier *)w->item)->count--;
}

/* [lock held] */
static void barrier_check(barrier *b, unsigned n)
{
    if (n == 0)
        fi_fatal("filch_barrier_wait: n is 0; count the caller");
    if (b->count == 0)
        b->wanted = n;
    else if (b->wanted != n)
        fi_fatal("filch_barrier_wait: n differs from that of another waiter; give the same n");
}

/* [lock held, which this releases] */
static int barrier_open(barrier *b)
{
    fi_wake_list woken = {0};

    b->count = 0;
    fi_wake_list_take_all(&woken, &b->waiters, 0);
    fi_obj_unlock(&b->lock);
    fi_wake_list_wake(woken);
    return 1;
}

int filch_barrier_wait_until(filch_barrier *public, unsigned n, int64_t deadline)
{
    fi_wait_chaos();
    barrier *b = (barrier *)(void *)public;
    fi_waiter w = {.item = b, .on_abandon = barrier_abandon};

    fi_obj_lock(&b->lock);
    barrier_check(b, n);
    if (b->count + 1 == n)
        return barrier_open(b);
    b->count++;
    return fi_waitq_wait(&w, &b->waiters, &b->lock, (fi_wait_reason){"barrier", b}, deadline);
}

int filch_barrier_wait(filch_barrier *b, unsigned n)
{
    return filch_barrier_wait_until(b, n, FI_TIMER_NEVER);
}
