/* Semaphore.  FIFO: while a caller waits, no later caller takes from the count. */
#include "sync/object.h"

#include "base/fatal.h"

/* The layout of filch_sem.  The first waiter wants more than count, or is about to be woken. */
typedef struct sem {
    fi_biased_lock lock;
    fi_waitq waiters; /* item: a uint64_t, how many the waiter wants */
    uint64_t count;
} sem;

_Static_assert(sizeof(sem) == sizeof(filch_sem), "one layout");
_Static_assert(offsetof(sem, waiters) == offsetof(filch_sem, waiters_), "one layout");
_Static_assert(offsetof(sem, count) == offsetof(filch_sem, count_), "one layout");

static sem *sem_of(filch_sem *s)
{
    return (sem *)(void *)s;
}

/* [lock held] */
static fi_wake_list sem_take_satisfied(sem *s)
{
    fi_wake_list woken = {0};

    while (s->waiters.first) {
        uint64_t wanted = *(const uint64_t *)s->waiters.first->item;
        if (wanted > s->count)
            break;
        s->count -= wanted;
        fi_wake_list_take(&woken, &s->waiters, 0);
    }
    return woken;
}

/* [lock held] */
static bool sem_take(sem *s, uint64_t n)
{
    if (s->waiters.first || s->count < n)
        return false;
    s->count -= n;
    return true;
}

/* A waiter that gives up may have held back those behind it. */
static void sem_wake_next(sem *s)
{
    fi_wake_list woken;

    fi_obj_lock(&s->lock);
    woken = sem_take_satisfied(s);
    fi_obj_unlock(&s->lock);
    fi_wake_list_wake(woken);
}

/* [lock held, which this releases] */
static int sem_enqueue(sem *s, uint64_t n, int64_t deadline)
{
    fi_waiter w;
    int e;

    fi_waiter_init(&w, &n);
    e = fi_waitq_wait(&w, &s->waiters, &s->lock, (fi_wait_reason){"semaphore", s}, deadline);
    if (e < 0)
        sem_wake_next(s);
    return e;
}

int filch_sem_wait_n_until(filch_sem *public, uint64_t n, int64_t deadline)
{
    fi_wait_chaos();
    sem *s = sem_of(public);
    uint32_t id = fi_lock_id();

    fi_biased_lock_lock(&s->lock, id);
    if (!sem_take(s, n))
        return sem_enqueue(s, n, deadline);
    fi_biased_lock_unlock(&s->lock, id);
    return 0;
}

int filch_sem_wait_n(filch_sem *s, uint64_t n)
{
    return filch_sem_wait_n_until(s, n, FI_TIMER_NEVER);
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
    sem *s = sem_of(public);
    uint32_t id = fi_lock_id();
    bool taken;

    fi_biased_lock_lock(&s->lock, id);
    taken = sem_take(s, 1);
    fi_biased_lock_unlock(&s->lock, id);
    return taken ? 0 : -EAGAIN;
}

void filch_sem_post_n(filch_sem *public, uint64_t n)
{
    fi_wait_chaos();
    sem *s = sem_of(public);
    uint32_t id = fi_lock_id();
    fi_wake_list woken;

    fi_biased_lock_lock(&s->lock, id);
    if (n > UINT64_MAX - s->count)
        fi_fatal("filch_sem_post_n: the value would overflow");
    s->count += n;
    woken = sem_take_satisfied(s);
    fi_biased_lock_unlock(&s->lock, id);
    fi_wake_list_wake(woken);
}

void filch_sem_post(filch_sem *s)
{
    filch_sem_post_n(s, 1);
}

uint64_t filch_sem_value(filch_sem *public)
{
    sem *s = sem_of(public);
    uint32_t id = fi_lock_id();
    uint64_t count;

    fi_biased_lock_lock(&s->lock, id);
    count = s->count;
    fi_biased_lock_unlock(&s->lock, id);
    return count;
}
