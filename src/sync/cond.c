/* Who waits stands in the line before the mutex is let go: who changes something with the mutex held, and signals
 * then, finds it there. */
#include "sync/object.h"

#include <stddef.h>

/* The same layout as filch_cond. */
typedef struct cond {
    fi_biased_lock latch;
    fi_line line;
} cond;

_Static_assert(sizeof(cond) == sizeof(filch_cond), "one layout");
_Static_assert(offsetof(cond, line) == offsetof(filch_cond, line_), "one layout");

static cond *of(filch_cond *c)
{
    return (cond *)(void *)c;
}

static void unlock(void *mutex)
{
    filch_mutex_unlock(mutex);
}

int filch_cond_wait_until(filch_cond *public, filch_mutex *m, int64_t deadline)
{
    fi_wait_chaos();
    cond *c = of(public);
    fi_wait w;
    int e;

    fi_wait_init(&w, NULL);
    fi_hold(&c->latch);
    e = fi_wait_in_then(&w, &c->line, &c->latch, (fi_wait_for){"condition", c}, deadline, unlock,
                        m);
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
    cond *c = of(public);
    fi_wake_list woken = {0};

    fi_hold(&c->latch);
    fi_wake_list_take(&woken, &c->line, 0);
    fi_let_go(&c->latch);
    fi_wake_list_wake(woken);
}

void filch_cond_broadcast(filch_cond *public)
{
    fi_wait_chaos();
    cond *c = of(public);
    fi_wake_list woken = {0};

    fi_hold(&c->latch);
    fi_wake_list_take_all(&woken, &c->line, 0);
    fi_let_go(&c->latch);
    fi_wake_list_wake(woken);
}
