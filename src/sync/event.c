/* Event.  A set with manual reset wakes all waiters, and the event stays set.  With auto reset it
 * wakes the first waiter, which takes the set; if there is none, the next wait takes it.
 *
 * A waiter reads the state under the lock, even if the event is set.  So the call that has set it
 * does not touch the event again, and the waiter may free it. */
#include "sync/object.h"

/* The layout of filch_event.  If it is set, there are no waiters. */
typedef struct event {
    fi_biased_lock lock;
    fi_waitq waiters;
    uint32_t is_set;
    uint32_t auto_reset;
} event;

_Static_assert(sizeof(event) == sizeof(filch_event), "one layout");
_Static_assert(offsetof(event, waiters) == offsetof(filch_event, waiters_), "one layout");
_Static_assert(offsetof(event, is_set) == offsetof(filch_event, is_set_), "one layout");
_Static_assert(offsetof(event, auto_reset) == offsetof(filch_event, auto_reset_), "one layout");

static event *event_of(filch_event *e)
{
    return (event *)(void *)e;
}

/* ---- set and reset ---- */

/* [lock held, which this releases] */
static FI_NOINLINE void event_set_waking(event *e, uint32_t id)
{
    fi_wake_list woken = {0};

    if (e->auto_reset) {
        e->is_set = !fi_wake_list_take(&woken, &e->waiters, 0);
    } else {
        fi_wake_list_take_all(&woken, &e->waiters, 0);
        e->is_set = true;
    }
    fi_biased_lock_unlock(&e->lock, id);
    fi_wake_list_wake(woken);
}

/* [lock held, which this releases] fast: how the lock was taken, a constant. */
FI_INLINE void event_set_locked(event *e, uint32_t id, bool fast)
{
    if (e->waiters.first) {
        event_set_waking(e, id);
        return;
    }
    e->is_set = true;
    fi_biased_lock_unlock_as(&e->lock, id, fast);
}

static FI_NOINLINE void event_set_slow(event *e, uint32_t id)
{
    fi_biased_lock_lock_slow(&e->lock, id);
    event_set_locked(e, id, false);
}

void filch_event_set(filch_event *public)
{
    fi_wait_chaos();
    event *e = event_of(public);
    uint32_t id = fi_lock_id();

    if (!fi_biased_lock_try_fast(&e->lock, id))
        event_set_slow(e, id);
    else
        event_set_locked(e, id, true);
}

/* [lock held, which this releases] fast: how the lock was taken, a constant. */
FI_INLINE void event_reset_locked(event *e, uint32_t id, bool fast)
{
    e->is_set = false;
    fi_biased_lock_unlock_as(&e->lock, id, fast);
}

static FI_NOINLINE void event_reset_slow(event *e, uint32_t id)
{
    fi_biased_lock_lock_slow(&e->lock, id);
    event_reset_locked(e, id, false);
}

void filch_event_reset(filch_event *public)
{
    fi_wait_chaos();
    event *e = event_of(public);
    uint32_t id = fi_lock_id();

    if (!fi_biased_lock_try_fast(&e->lock, id))
        event_reset_slow(e, id);
    else
        event_reset_locked(e, id, true);
}

/* ---- wait ---- */

/* [lock held, which this releases] */
static FI_NOINLINE int event_enqueue(event *e, int64_t deadline)
{
    fi_waiter w;

    fi_waiter_init(&w, NULL);
    return fi_waitq_wait(&w, &e->waiters, &e->lock, (fi_wait_reason){"event", e}, deadline);
}

/* [lock held, which this releases] fast: how the lock was taken, a constant. */
FI_INLINE int event_wait_locked(event *e, uint32_t id, int64_t deadline, bool fast)
{
    if (!e->is_set)
        return event_enqueue(e, deadline);
    e->is_set = !e->auto_reset;
    fi_biased_lock_unlock_as(&e->lock, id, fast);
    return 0;
}

static FI_NOINLINE int event_wait_slow(event *e, uint32_t id, int64_t deadline)
{
    fi_biased_lock_lock_slow(&e->lock, id);
    return event_wait_locked(e, id, deadline, false);
}

FI_INLINE int event_wait_until(event *e, int64_t deadline)
{
    uint32_t id = fi_lock_id();

    if (!fi_biased_lock_try_fast(&e->lock, id))
        return event_wait_slow(e, id, deadline);
    return event_wait_locked(e, id, deadline, true);
}

int filch_event_wait(filch_event *e)
{
    fi_wait_chaos();
    return event_wait_until(event_of(e), FI_TIMER_NEVER);
}

int filch_event_wait_until(filch_event *e, int64_t deadline)
{
    fi_wait_chaos();
    return event_wait_until(event_of(e), deadline);
}

int filch_event_try_wait(filch_event *public)
{
    fi_wait_chaos();
    event *e = event_of(public);
    uint32_t id = fi_lock_id();
    bool was_set;

    fi_biased_lock_lock(&e->lock, id);
    was_set = e->is_set;
    if (was_set)
        e->is_set = !e->auto_reset;
    fi_biased_lock_unlock(&e->lock, id);
    return was_set ? 0 : -EAGAIN;
}

bool filch_event_is_set(filch_event *public)
{
    event *e = event_of(public);
    uint32_t id = fi_lock_id();
    bool is_set;

    fi_biased_lock_lock(&e->lock, id);
    is_set = e->is_set;
    fi_biased_lock_unlock(&e->lock, id);
    return is_set;
}
