/* Whoever ends hands over to those who come next.  So somebody waits only while others are inside. */
#include "sync/object.h"

#include "base/fatal.h"

#include <errno.h>
#include <stddef.h>

#define WRITER UINT32_MAX

/* The same layout as filch_rwlock. */
typedef struct rwlock {
    fi_biased_lock latch;
    fi_line readers, writers;
    uint32_t inside; /* how many readers; or WRITER */
    uint32_t extra;
} rwlock;

_Static_assert(sizeof(rwlock) == sizeof(filch_rwlock), "one layout");
_Static_assert(offsetof(rwlock, readers) == offsetof(filch_rwlock, readers_), "one layout");
_Static_assert(offsetof(rwlock, writers) == offsetof(filch_rwlock, writers_), "one layout");
_Static_assert(offsetof(rwlock, inside) == offsetof(filch_rwlock, state_), "one layout");

static rwlock *of(filch_rwlock *l)
{
    return (rwlock *)(void *)l;
}

/* ---- in, under the latch ---- */

/* A writer that waits keeps new readers out. */
static bool enter_to_read(rwlock *l)
{
    if (l->writers.first || l->inside >= WRITER - 1)
        return false;
    l->inside++;
    return true;
}

static bool enter_to_write(rwlock *l)
{
    if (l->inside != 0)
        return false;
    l->inside = WRITER;
    return true;
}

/* Nobody is inside, or readers. */
static void let_readers_in(rwlock *l, fi_wake_list *woken)
{
    l->inside += fi_wake_list_take_all(woken, &l->readers, 0);
}

/* Nobody is inside. */
static void let_writer_in(rwlock *l, fi_wake_list *woken)
{
    if (!l->writers.first)
        return;
    l->inside = WRITER;
    fi_wake_list_take(woken, &l->writers, 0);
}

/* ---- read ---- */

static int read_until(rwlock *l, int64_t deadline, bool stubborn)
{
    fi_wait w = {.stubborn = stubborn};

    fi_hold(&l->latch);
    if (!enter_to_read(l))
        return fi_wait_in(&w, &l->readers, &l->latch, (fi_wait_for){"read lock", l}, deadline);
    fi_let_go(&l->latch);
    return 0;
}

void filch_rwlock_rdlock(filch_rwlock *l)
{
    fi_wait_chaos();
    read_until(of(l), FI_TIMER_NEVER, true);
}

int filch_rwlock_rdlock_until(filch_rwlock *l, int64_t deadline)
{
    fi_wait_chaos();
    return read_until(of(l), deadline, false);
}

int filch_rwlock_try_rdlock(filch_rwlock *public)
{
    rwlock *l = of(public);
    bool in;

    fi_hold(&l->latch);
    in = enter_to_read(l);
    fi_let_go(&l->latch);
    return in ? 0 : -EBUSY;
}

void filch_rwlock_rdunlock(filch_rwlock *public)
{
    fi_wait_chaos();
    rwlock *l = of(public);
    fi_wake_list woken = {0};

    fi_hold(&l->latch);
    if (l->inside == 0 || l->inside == WRITER)
        fi_fatal("filch_rwlock_rdunlock of a lock that nobody reads");
    if (--l->inside == 0)
        let_writer_in(l, &woken);
    fi_let_go(&l->latch);
    fi_wake_list_wake(woken);
}

/* ---- write ---- */

/* The readers that this one kept out, unless another writer does. */
static void give_up_writing(rwlock *l)
{
    fi_wake_list woken = {0};

    fi_hold(&l->latch);
    if (l->inside != WRITER && !l->writers.first)
        let_readers_in(l, &woken);
    fi_let_go(&l->latch);
    fi_wake_list_wake(woken);
}

static int write_until(rwlock *l, int64_t deadline, bool stubborn)
{
    fi_wait w = {.stubborn = stubborn};
    int e;

    fi_hold(&l->latch);
    if (enter_to_write(l)) {
        fi_let_go(&l->latch);
        return 0;
    }
    e = fi_wait_in(&w, &l->writers, &l->latch, (fi_wait_for){"write lock", l}, deadline);
    if (e < 0)
        give_up_writing(l);
    return e;
}

void filch_rwlock_wrlock(filch_rwlock *l)
{
    fi_wait_chaos();
    write_until(of(l), FI_TIMER_NEVER, true);
}

int filch_rwlock_wrlock_until(filch_rwlock *l, int64_t deadline)
{
    fi_wait_chaos();
    return write_until(of(l), deadline, false);
}

int filch_rwlock_try_wrlock(filch_rwlock *public)
{
    rwlock *l = of(public);
    bool in;

    fi_hold(&l->latch);
    in = enter_to_write(l);
    fi_let_go(&l->latch);
    return in ? 0 : -EBUSY;
}

void filch_rwlock_wrunlock(filch_rwlock *public)
{
    fi_wait_chaos();
    rwlock *l = of(public);
    fi_wake_list woken = {0};

    fi_hold(&l->latch);
    if (l->inside != WRITER)
        fi_fatal("filch_rwlock_wrunlock of a lock that nobody writes");
    l->inside = 0;
    let_readers_in(l, &woken);
    if (l->inside == 0)
        let_writer_in(l, &woken);
    fi_let_go(&l->latch);
    fi_wake_list_wake(woken);
}
