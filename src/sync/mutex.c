/* Who unlocks a mutex frees it and wakes the first in line, who tries again; meanwhile others may take it, as they are
 * running and the first is not.  That is counted.  When those in line were passed too often, nobody passes them any more:
 * the mutex is free, and kept for the one that was woken.  So the k-th in line waits for k * (PASSES_MAX + 1) turns at
 * most. */
#include "sync/object.h"

#include "base/fatal.h"

#include <errno.h>
#include <stddef.h>

#define PASSES_MAX 256u
#define LOSS       64u /* as many passes as it is to be woken and to find it locked */

enum {
    LOCKED = 1,
    COMING = 2, /* somebody was taken out of the line to try again.  So 0 means that nobody waits */
};

#define TRY_AGAIN 1 /* the result of a wait */

/* The same layout as filch_mutex.  Where the line is not empty, it is locked or somebody is coming. */
typedef struct mutex {
    fi_biased_lock latch;
    fi_line line;
    uint32_t state;
    uint32_t passes; /* since somebody from the line had it, or the line began */
} mutex;

_Static_assert(sizeof(mutex) == sizeof(filch_mutex), "one layout");
_Static_assert(offsetof(mutex, line) == offsetof(filch_mutex, line_), "one layout");
_Static_assert(offsetof(mutex, state) == offsetof(filch_mutex, state_), "one layout");

static mutex *of(filch_mutex *m)
{
    return (mutex *)(void *)m;
}

/* ---- lock ---- */

/* [latch held] */
static bool take(mutex *m)
{
    if (m->state != 0)
        return false;
    m->state = LOCKED;
    return true;
}

/* [latch held] Before those who wait. */
static bool pass(mutex *m)
{
    if (m->state & LOCKED || m->passes >= PASSES_MAX)
        return false;
    m->passes++;
    m->state |= LOCKED;
    return true;
}

/* [latch held, which this lets go] */
static int stand(mutex *m, int64_t deadline, bool stubborn)
{
    fi_wait w;

    fi_wait_init(&w, NULL);
    w.stubborn = stubborn;
    return fi_wait_in(&w, &m->line, &m->latch, (fi_wait_for){"mutex", m}, deadline);
}

static int stand_first(mutex *m, int64_t deadline, bool stubborn)
{
    fi_wait w;

    fi_wait_init(&w, NULL);
    w.stubborn = stubborn;
    return fi_wait_in_first(&w, &m->line, &m->latch, (fi_wait_for){"mutex", m}, deadline);
}

/* Who gives up after this leaves the mutex locked: its holder will wake the next. */
static int try_again(mutex *m, int64_t deadline, bool stubborn)
{
    fi_hold(&m->latch);
    m->state &= ~(uint32_t)COMING;
    if (take(m)) {
        m->passes = 0;
        fi_let_go(&m->latch);
        return 0;
    }
    m->passes += LOSS;
    return stand_first(m, deadline, stubborn);
}

/* [latch held, which this lets go] */
static __attribute__((noinline)) int lock_slowly(mutex *m, uint32_t who, int64_t deadline,
                                                 bool stubborn)
{
    int e;

    if (pass(m)) {
        fi_biased_lock_unlock(&m->latch, who);
        return 0;
    }
    if (!m->line.first && !(m->state & COMING))
        m->passes = 0;
    e = stand(m, deadline, stubborn);
    while (e == TRY_AGAIN)
        e = try_again(m, deadline, stubborn);
    return e;
}

static __attribute__((noinline)) int lock_by_word(mutex *m, uint32_t who, int64_t deadline,
                                                  bool stubborn)
{
    fi_biased_lock_lock_slow(&m->latch, who);
    if (!take(m))
        return lock_slowly(m, who, deadline, stubborn);
    fi_biased_lock_unlock(&m->latch, who);
    return 0;
}

/* The way of the favourite is kept free of all that the other ways need. */
static inline int lock(mutex *m, int64_t deadline, bool stubborn)
{
    uint32_t who = fi_lock_id();

    if (!fi_biased_lock_try_fast(&m->latch, who))
        return lock_by_word(m, who, deadline, stubborn);
    if (!take(m))
        return lock_slowly(m, who, deadline, stubborn);
    fi_biased_lock_unlock_fast(who);
    return 0;
}

void filch_mutex_lock(filch_mutex *m)
{
    fi_wait_chaos();
    lock(of(m), FI_TIMER_NEVER, true);
}

int filch_mutex_lock_until(filch_mutex *m, int64_t deadline)
{
    fi_wait_chaos();
    return lock(of(m), deadline, false);
}

int filch_mutex_try_lock(filch_mutex *public)
{
    fi_wait_chaos();
    mutex *m = of(public);
    uint32_t who = fi_lock_id();
    bool taken;

    fi_biased_lock_lock(&m->latch, who);
    taken = take(m) || pass(m);
    fi_biased_lock_unlock(&m->latch, who);
    return taken ? 0 : -EBUSY;
}

/* ---- unlock ---- */

/* [latch held, which this lets go] One at a time is woken: the next when that one has come. */
static __attribute__((noinline)) void unlock_slowly(mutex *m, uint32_t who)
{
    fi_wait *w;

    if (!(m->state & LOCKED))
        fi_fatal("filch_mutex_unlock of a mutex that is not locked");
    w = m->state & COMING ? NULL : fi_line_take(&m->line);
    if (w)
        w->result = TRY_AGAIN;
    m->state = COMING;
    fi_biased_lock_unlock(&m->latch, who);
    if (w)
        fi_wait_end(w);
}

/* [latch held] False: somebody waits, or it was not locked. */
static bool set_free(mutex *m)
{
    if (m->state != LOCKED || m->line.first)
        return false;
    m->state = 0;
    return true;
}

static __attribute__((noinline)) void unlock_by_word(mutex *m, uint32_t who)
{
    fi_biased_lock_lock_slow(&m->latch, who);
    if (set_free(m))
        fi_biased_lock_unlock(&m->latch, who);
    else
        unlock_slowly(m, who);
}

void filch_mutex_unlock(filch_mutex *public)
{
    fi_wait_chaos();
    mutex *m = of(public);
    uint32_t who = fi_lock_id();

    if (!fi_biased_lock_try_fast(&m->latch, who))
        unlock_by_word(m, who);
    else if (set_free(m))
        fi_biased_lock_unlock_fast(who);
    else
        unlock_slowly(m, who);
}
