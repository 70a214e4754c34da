/* Condition variable.  A waiter is in the queue before it unlocks the mutex.  So a caller that
 * changes the condition with the mutex held, and signals then, finds it there. */
#include "sync/object.h"

/* The layout of filch_cond. */
typedef struct cond {
    fi_biased_lock lock;
    fi_waitq waiters;
} cond;

_Static_assert(sizeof(cond) == sizeof(filch_cond), "one layout");
_Static_assert(offsetof(cond, waiters) == offsetof(filch_cond, waiters_), "one layout");

static cond *cond_of(filch_cond *c)
{
    return (cond *)(void *)c;
}

static void unlock_mutex(void *mutex)
{
    filch_mutex_unlock(mutex);
}

int filch_cond_wait_until(filch_cond *public, filch_mutex *m, int64_t deadline)
{
    fi_wait_chaos();
    cond *c = cond_of(public);
    fi_waiter w;
    int e;

    fi_waiter_init(&w, NULL);
    fi_obj_lock(&c->lock);
    e = fi_waitq_wait_then(&w, &c->waiters, &c->lock, (fi_wait_reason){"condition", c}, deadline,
                           unlock_mutex, m);
    filch_mutex_lock(m);
    return e;
}

int filch_cond_wait(filch_cond *c, filch_mutex *m)
{
    return filch_cond_wait_until(c, m, FI_TIMER_NEVER);
}

void filch_cond_signal(filch_cond *public)
{
    fi_wait_chaos();
    cond *c = cond_of(public);
    fi_wake_list woken = {0};

    fi_obj_lock(&c->lock);
    fi_wake_list_take(&woken, &c->waiters, 0);
    fi_obj_unlock(&c->lock);
    fi_wake_list_wake(woken);
}

void filch_cond_broadcast(filch_cond *public)
{
    fi_wait_chaos();
    cond *c = cond_of(public);
    fi_wake_list woken = {0};

    fi_obj_lock(&c->lock);
    fi_wake_list_take_all(&woken, &c->waiters, 0);
    fi_obj_unlock(&c->lock);
    fi_wake_list_wake(woken);
}
