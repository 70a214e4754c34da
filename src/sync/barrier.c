/* Who comes stands in line; the last takes all out. */
#include "sync/object.h"

#include "base/fatal.h"

#include <stddef.h>

/* The same layout as filch_barrier. */
typedef struct barrier {
    fi_biased_lock latch;
    fi_line line;
    uint32_t count;  /* how many stand in line */
    uint32_t wanted; /* what the first of them said */
} barrier;

_Static_assert(sizeof(barrier) == sizeof(filch_barrier), "one layout");
_Static_assert(offsetof(barrier, line) == offsetof(filch_barrier, line_), "one layout");
_Static_assert(offsetof(barrier, count) == offsetof(filch_barrier, count_), "one layout");

/* [latch held] At once, as who comes next must not count it. */
static void left(fi_wait *w)
{
    ((barrier *)w->item)->count--;
}

/* [latch held] */
static void agree(barrier *b, unsigned n)
{
    if (n == 0)
        fi_fatal("filch_barrier_wait for 0, when even the caller is 1");
    if (b->count == 0)
        b->wanted = n;
    else if (b->wanted != n)
        fi_fatal("filch_barrier_wait for another number than others that wait there");
}

/* [latch held, which this lets go] */
static int open(barrier *b)
{
    fi_wake_list woken = {0};

    b->count = 0;
    fi_wake_list_take_all(&woken, &b->line, 0);
    fi_let_go(&b->latch);
    fi_wake_list_wake(woken);
    return 1;
}

int filch_barrier_wait_until(filch_barrier *public, unsigned n, int64_t deadline)
{
    fi_wait_chaos();
    barrier *b = (barrier *)(void *)public;
    fi_wait w = {.item = b, .left = left};

    fi_hold(&b->latch);
    agree(b, n);
    if (b->count + 1 == n)
        return open(b);
    b->count++;
    return fi_wait_in(&w, &b->line, &b->latch, (fi_wait_for){"barrier", b}, deadline);
}

int filch_barrier_wait(filch_barrier *b, unsigned n)
{
    return filch_barrier_wait_until(b, n, FI_TIMER_NEVER);
}
