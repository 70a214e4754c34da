/* The count is the lock:
 *
 *     enter                                 close
 *     count up; is it CLOSED?               compare-and-swap 0 to CLOSED, or fail
 *       yes: count down, yield, repeat      (replace the object)
 *     (use the object)                      open: subtract CLOSED
 *
 * A user that counts up before the compare-and-swap makes it fail.  A user that counts up after it
 * waits until the object was replaced. */
#include "base/use_count.h"

#include <stdint.h>

#define CLOSED (SIZE_MAX / 2 + 1)

void fi_use_count_init(fi_use_count *u)
{
    fi_atomic_init(&u->count, (size_t)0);
}

void fi_use_count_enter(fi_use_count *u)
{
    /* <- use_count.open: the new object */
    while ((fi_fetch_add_acquire(&u->count, (size_t)1, use_count.enter) & CLOSED) != 0) {
        fi_fetch_add_relaxed(&u->count, (size_t)-1); /* there was no use to publish */
        fi_thread_yield();
    }
}

bool fi_use_count_leave(fi_use_count *u)
{
    /* -> use_count.close: the last use */
    return (fi_fetch_add_release(&u->count, (size_t)-1, use_count.leave) & ~CLOSED) != 0;
}

bool fi_use_count_try_close(fi_use_count *u)
{
    size_t none = 0;
    /* <- use_count.leave */
    return fi_cas_acquire(&u->count, &none, CLOSED, use_count.close);
}

void fi_use_count_open(fi_use_count *u)
{
    /* -> use_count.enter */
    fi_fetch_add_release(&u->count, (size_t)0 - CLOSED, use_count.open);
}

size_t fi_use_count_count(fi_use_count *u)
{
    return fi_load_relaxed(&u->count) & ~CLOSED;
}
