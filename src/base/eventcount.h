/* An eventcount: a counter of notifications that a thread can wait on without missing one.
 *
 *     notifier                        waiter
 *     1. make the condition true      1. ticket = fi_eventcount_prepare
 *     2. fi_eventcount_notify         2. check the condition
 *                                     3. fi_eventcount_wait(ticket): returns at once if there was a
 *                                        notification since step 1
 *
 * A notification is an atomic addition and a system call, so signal handlers may notify. */
#ifndef FI_BASE_EVENTCOUNT_H
#define FI_BASE_EVENTCOUNT_H

#include "base/atomic.h"
#include "base/futex.h"

typedef FI_ATOMIC(uint32_t) fi_eventcount; /* notifications so far */

/* [any] -> eventcount.prepare: the condition */
static inline void fi_eventcount_notify(fi_eventcount *ec)
{
    fi_fetch_add_release(ec, 1u, eventcount.notify);
    fi_futex_wake(ec, 1);
}

/* [waiter] <- eventcount.notify.  Otherwise the waiter sees the notification and not the condition,
 * and sleeps. */
static inline uint32_t fi_eventcount_prepare(fi_eventcount *ec)
{
    return fi_load_acquire(ec, eventcount.prepare);
}

/* [waiter] Wait for a notification after the prepare that returned ticket, or for the deadline. */
static inline void fi_eventcount_wait(fi_eventcount *ec, uint32_t ticket, int64_t deadline_ns)
{
    fi_futex_wait(ec, ticket, deadline_ns);
}

#endif
