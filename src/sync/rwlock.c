/* Read-write lock.  An unlock hands the lock to the next waiters.  So a caller waits only while
 * others hold the lock. */
#include "sync/object.h"

#include "base/fatal.h"

#define WRITER UINT32_MAX

/* The layout of filch_rwlock. */
typedef struct rwlock {
    fi_biased_lock lock;
    fi_waitq readers, writers;
    uint32_t holders; /* number of readers, or WRITER */
    uint32_t extra;
} rwlock;

_Static_assert(sizeof(rwlock) == sizeof(filch_rwlock), "one layout");
_Static_assert(offsetof(rwlock, readers) == offsetof(filch_rwlock, readers_), "one layout");
_Static_assert(offsetof(rwlock, writers) == offsetof(filch_rwlock, writers_), "one layout");
_Static_assert(offsetof(rwlock, holders) == offsetof(filch_rwlock, state_), "one layout");

static rwlock *rwlock_of(filch_rwlock *l)
{
    return (rwlock *)(void *)l;
}

/* ---- with the lock held ---- */

/* A waiting writer keeps new readers out. */
static bool rwlock_take_read(rwlock *l)
{
    if (l->writers.first || l->holders >= WRITER - 1)
        return false;
    l->holders++;
    return true;
}

static bool rwlock_take_write(rwlock *l)
{
    if (l->holders != 0)
        return false;
    l->holders = WRITER;
    return true;
}

/* The lock is free or held by readers. */
static void rwlock_admit_readers(rwlock *l, fi_wake_list *woken)
{
    l->holders += fi_wake_list_take_all(woken, &l->readers, 0);
}

/* The lock is free. */
static void rwlock_admit_writer(rwlock *l, fi_wake_list *woken)
{
    if (!l->writers.first)
        return;
    l->holders = WRITER;
    fi_wake_list_take(woken, &l->writers, 0);
}

/* ---- read ---- */

static int rwlock_read_until(rwlock *l, int64_t deadline, bool uncancellable)
{
    fi_waiter w = {.uncancellable = uncancellable};

    fi_obj_lock(&l->lock);
    if (!rwlock_take_read(l))
        return fi_waitq_wait(&w, &l->readers, &l->lock, (fi_wait_reason){"read lock", l}, deadline);
    fi_obj_unlock(&l->lock);
    return 0;
}

void filch_rwlock_rdlock(filch_rwlock *l)
{
    fi_wait_chaos();
    rwlock_read_until(rwlock_of(l), FI_TIMER_NEVER, true);
}

int filch_rwlock_rdlock_until(filch_rwlock *l, int64_t deadline)
{
    fi_wait_chaos();
    return rwlock_read_until(rwlock_of(l), deadline, false);
}

int filch_rwlock_try_rdlock(filch_rwlock *public)
{
    rwlock *l = rwlock_of(public);
    bool taken;

    fi_obj_lock(&l->lock);
    taken = rwlock_take_read(l);
    fi_obj_unlock(&l->lock);
    return taken ? 0 : -EAGAIN;
}

void filch_rwlock_rdunlock(filch_rwlock *public)
{
    fi_wait_chaos();
    rwlock *l = rwlock_of(public);
    fi_wake_list woken = {0};

    fi_obj_lock(&l->lock);
    if (l->holders == 0 || l->holders == WRITER)
        fi_fatal("filch_rwlock_rdunlock: no reader holds the lock");
    if (--l->holders == 0)
        rwlock_admit_writer(l, &woken);
    fi_obj_unlock(&l->lock);
    fi_wake_list_wake(woken);
}

/* ---- write ---- */

/* A writer has given up.  Admit the readers that it kept out, unless another writer waits. */
static void rwlock_abandon_write(rwlock *l)
{
    fi_wake_list woken = {0};

    fi_obj_lock(&l->lock);
    if (l->holders != WRITER && !l->writers.first)
        rwlock_admit_readers(l, &woken);
    fi_obj_unlock(&l->lock);
    fi_wake_list_wake(woken);
}

static int rwlock_write_until(rwlock *l, int64_t deadline, bool uncancellable)
{
    fi_waiter w = {.uncancellable = uncancellable};
    int e;

    fi_obj_lock(&l->lock);
    if (rwlock_take_write(l)) {
        fi_obj_unlock(&l->lock);
        return 0;
    }
    e = fi_waitq_wait(&w, &l->writers, &l->lock, (fi_wait_reason){"write lock", l}, deadline);
    if (e < 0)
        rwlock_abandon_write(l);
    return e;
}

void filch_rwlock_wrlock(filch_rwlock *l)
{
    fi_wait_chaos();
    rwlock_write_until(rwlock_of(l), FI_TIMER_NEVER, true);
}

int filch_rwlock_wrlock_until(filch_rwlock *l, int64_t deadline)
{
    fi_wait_chaos();
    return rwlock_write_until(rwlock_of(l), deadline, false);
}

int filch_rwlock_try_wrlock(filch_rwlock *public)
{
    rwlock *l = rwlock_of(public);
    bool taken;

    fi_obj_lock(&l->lock);
    taken = rwlock_take_write(l);
    fi_obj_unlock(&l->lock);
    return taken ? 0 : -EAGAIN;
}

void filch_rwlock_wrunlock(filch_rwlock *public)
{
    fi_wait_chaos();
    rwlock *l = rwlock_of(public);
    fi_wake_list woken = {0};

    fi_obj_lock(&l->lock);
    if (l->holders != WRITER)
        fi_fatal("filch_rwlock_wrunlock: no writer holds the lock");
    l->holders = 0;
    rwlock_admit_readers(l, &woken);
    if (l->holders == 0)
        rwlock_admit_writer(l, &woken);
    fi_obj_unlock(&l->lock);
    fi_wake_list_wake(woken);
}
