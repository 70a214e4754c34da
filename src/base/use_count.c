/* The count of users is the lock:
 *
 *     enter                                 close
 *     count up; was it CLOSED?              CLOSED in place of 0, in one step, or give up
 *       then count down, wait, again        (replace the thing)
 *     (use the thing)                       open: take CLOSED away
 *
 * Whoever counted up before close's step makes it fail; whoever counts up after it waits until the
 * new thing stands.
 */
#include "base/use_count.h"

#include <stdint.h>

#define CLOSED (SIZE_MAX / 2 + 1)

void fi_use_count_init(fi_use_count *l)
{
    fi_atomic_init(&l->users, (size_t)0);
}

void fi_use_count_enter(fi_use_count *l)
{
    /* <- use_count.open: a half-written thing might be used. */
    while ((fi_fetch_add_acquire(&l->users, (size_t)1, use_count.enter) & CLOSED) != 0) {
        fi_fetch_add_relaxed(&l->users, (size_t)-1); /* used nothing, so publishes nothing */
        fi_thread_yield();
    }
}

bool fi_use_count_leave(fi_use_count *l)
{
    /* -> use_count.close: the thing might be replaced, and torn down, while its last user is still in
     * it. */
    return (fi_fetch_add_release(&l->users, (size_t)-1, use_count.leave) & ~CLOSED) != 0;
}

bool fi_use_count_try_close(fi_use_count *l)
{
    size_t none = 0;
    /* <- use_count.leave */
    return fi_cas_acquire(&l->users, &none, CLOSED, use_count.close);
}

void fi_use_count_open(fi_use_count *l)
{
    /* -> use_count.enter */
    fi_fetch_add_release(&l->users, (size_t)0 - CLOSED, use_count.open);
}

size_t fi_use_count_count(fi_use_count *l)
{
    return fi_load_relaxed(&l->users) & ~CLOSED;
}
