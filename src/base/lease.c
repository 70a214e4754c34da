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
#include "base/lease.h"

#include <stdint.h>

#define CLOSED (SIZE_MAX / 2 + 1)

void fi_lease_init(fi_lease *l)
{
    fi_atomic_init(&l->users, (size_t)0);
}

void fi_lease_enter(fi_lease *l)
{
    /* <- lease.open: a half-written thing might be used. */
    while ((fi_fetch_add_acquire(&l->users, (size_t)1, lease.enter) & CLOSED) != 0) {
        fi_fetch_add_relaxed(&l->users, (size_t)-1); /* used nothing, so publishes nothing */
        fi_yield();
    }
}

bool fi_lease_leave(fi_lease *l)
{
    /* -> lease.close: the thing might be replaced, and torn down, while its last user is still in
     * it. */
    return (fi_fetch_add_release(&l->users, (size_t)-1, lease.leave) & ~CLOSED) != 0;
}

bool fi_lease_try_close(fi_lease *l)
{
    size_t none = 0;
    /* <- lease.leave */
    return fi_cas_acquire(&l->users, &none, CLOSED, lease.close);
}

void fi_lease_open(fi_lease *l)
{
    /* -> lease.enter */
    fi_fetch_add_release(&l->users, (size_t)0 - CLOSED, lease.open);
}

size_t fi_lease_users(fi_lease *l)
{
    return fi_load_relaxed(&l->users) & ~CLOSED;
}
