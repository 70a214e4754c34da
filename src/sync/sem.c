/* First come, first served: while somebody waits, nobody else takes, however much there is. */
#include "sync/object.h"

#include "base/fatal.h"

#include <errno.h>
#include <stddef.h>

/* The same layout as filch_sem.  The first in line wants more than count, or somebody is about to serve it. */
typedef struct sem {
    fi_biased_lock latch;
    fi_line line; /* an item is a uint64_t: how many that one wants */
    uint64_t count;
} sem;

_Static_assert(sizeof(sem) == sizeof(filch_sem), "one layout");
_Static_assert(offsetof(sem, line) == offsetof(filch_sem, line_), "one layout");
_Static_assert(offsetof(sem, count) == offsetof(filch_sem, count_), "one layout");

static sem *of(filch_sem *s)
{
    return (sem *)(void *)s;
}

/* [latch held] */
static fi_wake_list serve(sem *s)
{
    fi_wake_list served = {0};

    while (s->line.first) {
        uint64_t wanted = *(const uint64_t *)s->line.first->item;
        if (wanted > s->count)
            break;
        s->count -= wanted;
        fi_wake_list_take(&served, &s->line, 0);
    }
    return served;
}

/* [latch held] */
static bool take(sem *s, uint64_t n)
{
    if (s->line.first || s->count < n)
        return false;
    s->count -= n;
    return true;
}

/* Who gives up may have been the one that wanted more than there is. */
static void serve_others(sem *s)
{
    fi_wake_list served;

    fi_hold(&s->latch);
    served = serve(s);
    fi_let_go(&s->latch);
    fi_wake_list_wake(served);
}

/* [latch held, which this lets go] */
static int stand(sem *s, uint64_t n, int64_t deadline)
{
    fi_wait w;
    int e;

    fi_wait_init(&w, &n);
    e = fi_wait_in(&w, &s->line, &s->latch, (fi_wait_for){"semaphore", s}, deadline);

    if (e < 0)
        serve_others(s);
    return e;
}

int filch_sem_wait_n_until(filch_sem *public, uint64_t n, int64_t deadline)
{
    fi_wait_chaos();
    sem *s = of(public);
    uint32_t who = fi_lock_id();

    fi_biased_lock_lock(&s->latch, who);
    if (!take(s, n))
        return stand(s, n, deadline);
    fi_biased_lock_unlock(&s->latch, who);
    return 0;
}

int filch_sem_wait_until(filch_sem *s, int64_t deadline)
{
    return filch_sem_wait_n_until(s, 1, deadline);
}

int filch_sem_wait(filch_sem *s)
{
    return filch_sem_wait_n_until(s, 1, FI_TIMER_NEVER);
}

int filch_sem_try_wait(filch_sem *public)
{
    fi_wait_chaos();
    sem *s = of(public);
    uint32_t who = fi_lock_id();
    bool taken;

    fi_biased_lock_lock(&s->latch, who);
    taken = take(s, 1);
    fi_biased_lock_unlock(&s->latch, who);
    return taken ? 0 : -EAGAIN;
}

void filch_sem_post_n(filch_sem *public, uint64_t n)
{
    fi_wait_chaos();
    sem *s = of(public);
    uint32_t who = fi_lock_id();
    fi_wake_list served;

    fi_biased_lock_lock(&s->latch, who);
    if (n > UINT64_MAX - s->count)
        fi_fatal("filch_sem_post_n: the semaphore's number would be too large");
    s->count += n;
    served = serve(s);
    fi_biased_lock_unlock(&s->latch, who);
    fi_wake_list_wake(served);
}

void filch_sem_post(filch_sem *s)
{
    filch_sem_post_n(s, 1);
}

uint64_t filch_sem_value(filch_sem *public)
{
    sem *s = of(public);
    uint32_t who = fi_lock_id();
    uint64_t count;

    fi_biased_lock_lock(&s->latch, who);
    count = s->count;
    fi_biased_lock_unlock(&s->latch, who);
    return count;
}
