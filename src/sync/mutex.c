/* Mutex.  Unlocking frees the mutex and wakes the first waiter, which tries again.  Meanwhile other
 * callers may barge: they run already and the waiter does not.  Barging is bounded.  After
 * BARGE_MAX barges the free mutex is reserved for the woken waiter.  So the k-th waiter waits for
 * at most k * (BARGE_MAX + 1) critical sections. */
#include "sync/object.h"

#include "base/fatal.h"

#define BARGE_MAX  256u
#define RETRY_COST 64u /* a wake-up that finds the mutex locked counts as this many barges */

enum {
    LOCKED = 1,
    WAKING = 2, /* a waiter was removed from the queue to try again; so state 0 means no waiter */
};

#define TRY_AGAIN 1 /* the result of a wait */

/* The layout of filch_mutex.  If there are waiters, state is not 0. */
typedef struct mutex {
    fi_biased_lock lock;
    fi_waitq waiters;
    uint32_t state;
    uint32_t barges; /* since a waiter got the mutex, or since the first waiter was enqueued */
} mutex;

_Static_assert(sizeof(mutex) == sizeof(filch_mutex), "one layout");
_Static_assert(offsetof(mutex, waiters) == offsetof(filch_mutex, waiters_), "one layout");
_Static_assert(offsetof(mutex, state) == offsetof(filch_mutex, state_), "one layout");

static mutex *mutex_of(filch_mutex *m)
{
    return (mutex *)(void *)m;
}

/* ---- lock ---- */

/* [lock held] */
static bool mutex_take(mutex *m)
{
    if (m->state != 0)
        return false;
    m->state = LOCKED;
    return true;
}

/* [lock held] Take the mutex before the waiters. */
static bool mutex_barge(mutex *m)
{
    if (m->state & LOCKED || m->barges >= BARGE_MAX)
        return false;
    m->barges++;
    m->state |= LOCKED;
    return true;
}

/* [lock held, which this releases] */
static int mutex_enqueue(mutex *m, int64_t deadline, bool uncancellable)
{
    fi_waiter w;

    fi_waiter_init(&w, NULL);
    w.uncancellable = uncancellable;
    return fi_waitq_wait(&w, &m->waiters, &m->lock, (fi_wait_reason){"mutex", m}, deadline);
}

static int mutex_enqueue_first(mutex *m, int64_t deadline, bool uncancellable)
{
    fi_waiter w;

    fi_waiter_init(&w, NULL);
    w.uncancellable = uncancellable;
    return fi_waitq_wait_front(&w, &m->waiters, &m->lock, (fi_wait_reason){"mutex", m}, deadline);
}

/* A waiter that gives up after this leaves the mutex locked.  The holder will wake the next one. */
static int mutex_retry(mutex *m, int64_t deadline, bool uncancellable)
{
    fi_obj_lock(&m->lock);
    m->state &= ~(uint32_t)WAKING;
    if (mutex_take(m)) {
        m->barges = 0;
        fi_obj_unlock(&m->lock);
        return 0;
    }
    m->barges += RETRY_COST;
    return mutex_enqueue_first(m, deadline, uncancellable);
}

/* [lock held, which this releases] */
static FI_NOINLINE int mutex_lock_contended(mutex *m, uint32_t id, int64_t deadline,
                                            bool uncancellable)
{
    int e;

    if (mutex_barge(m)) {
        fi_biased_lock_unlock(&m->lock, id);
        return 0;
    }
    if (!m->waiters.first && !(m->state & WAKING))
        m->barges = 0;
    e = mutex_enqueue(m, deadline, uncancellable);
    while (e == TRY_AGAIN)
        e = mutex_retry(m, deadline, uncancellable);
    return e;
}

/* [lock held, which this releases] fast: how the lock was taken, a constant. */
FI_INLINE int mutex_lock_locked(mutex *m, uint32_t id, int64_t deadline, bool uncancellable,
                                bool fast)
{
    if (!mutex_take(m))
        return mutex_lock_contended(m, id, deadline, uncancellable);
    fi_biased_lock_unlock_as(&m->lock, id, fast);
    return 0;
}

static FI_NOINLINE int mutex_lock_slow(mutex *m, uint32_t id, int64_t deadline, bool uncancellable)
{
    fi_biased_lock_lock_slow(&m->lock, id);
    return mutex_lock_locked(m, id, deadline, uncancellable, false);
}

FI_INLINE int mutex_lock_until(mutex *m, int64_t deadline, bool uncancellable)
{
    uint32_t id = fi_lock_id();

    if (!fi_biased_lock_try_fast(&m->lock, id))
        return mutex_lock_slow(m, id, deadline, uncancellable);
    return mutex_lock_locked(m, id, deadline, uncancellable, true);
}

void filch_mutex_lock(filch_mutex *m)
{
    fi_wait_chaos();
    mutex_lock_until(mutex_of(m), FI_TIMER_NEVER, true);
}

int filch_mutex_lock_until(filch_mutex *m, int64_t deadline)
{
    fi_wait_chaos();
    return mutex_lock_until(mutex_of(m), deadline, false);
}

int filch_mutex_try_lock(filch_mutex *public)
{
    fi_wait_chaos();
    mutex *m = mutex_of(public);
    uint32_t id = fi_lock_id();
    bool taken;

    fi_biased_lock_lock(&m->lock, id);
    taken = mutex_take(m) || mutex_barge(m);
    fi_biased_lock_unlock(&m->lock, id);
    return taken ? 0 : -EAGAIN;
}

/* ---- unlock ---- */

/* [lock held, which this releases] Wakes a waiter if none is waking. */
static FI_NOINLINE void mutex_unlock_contended(mutex *m, uint32_t id)
{
    fi_waiter *w;

    if (!(m->state & LOCKED))
        fi_fatal("filch_mutex_unlock: the mutex is not locked");
    w = m->state & WAKING ? NULL : fi_waitq_pop(&m->waiters);
    if (w)
        w->result = TRY_AGAIN;
    m->state = WAKING;
    fi_biased_lock_unlock(&m->lock, id);
    if (w)
        fi_waiter_wake(w);
}

/* [lock held, which this releases] fast: how the lock was taken, a constant. */
FI_INLINE void mutex_unlock_locked(mutex *m, uint32_t id, bool fast)
{
    if (m->state != LOCKED || m->waiters.first) {
        mutex_unlock_contended(m, id);
        return;
    }
    m->state = 0;
    fi_biased_lock_unlock_as(&m->lock, id, fast);
}

static FI_NOINLINE void mutex_unlock_slow(mutex *m, uint32_t id)
{
    fi_biased_lock_lock_slow(&m->lock, id);
    mutex_unlock_locked(m, id, false);
}

void filch_mutex_unlock(filch_mutex *public)
{
    fi_wait_chaos();
    mutex *m = mutex_of(public);
    uint32_t id = fi_lock_id();

    if (!fi_biased_lock_try_fast(&m->lock, id))
        mutex_unlock_slow(m, id);
    else
        mutex_unlock_locked(m, id, true);
}
