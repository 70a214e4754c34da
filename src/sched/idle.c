/* Sleeping and waking.  The list is short and changes seldom, so it is behind a lock; only the
 * question whether anybody sleeps at all is asked often, and that is one load after a fence. */
#include "sched/idle.h"

#include "base/futex.h"

#include <errno.h>
#include <stddef.h>

static uint32_t searchers(uint32_t state)
{
    return state / FI_IDLE_SEARCHER;
}

static uint32_t sleepers(uint32_t state)
{
    return state % FI_IDLE_SEARCHER;
}

void fi_idle_init(fi_idle *i)
{
    fi_atomic_init(&i->state, 0);
    fi_lock_init(&i->lock);
    i->sleepers = NULL;
    i->watched = false;
    fi_atomic_init(&i->changes, 0);
}

bool fi_idle_search_begin(fi_idle *i, unsigned workers)
{
    uint32_t state = fi_load_relaxed(&i->state);

    if (2 * searchers(state) >= workers - sleepers(state))
        return false;
    fi_fetch_add_relaxed(&i->state, FI_IDLE_SEARCHER);
    return true;
}

/* idle.found -> idle.sleep.fence: what I took away before the word.  Else a fiber that answers to who falls
 * asleep after me may still see it in its deque, and not publish more. */
bool fi_idle_search_end(fi_idle *i)
{
    return searchers(fi_fetch_add_release(&i->state, 0u - FI_IDLE_SEARCHER, idle.found)) == 1;
}

/* [lock held] A sleeper that is out of the list searches.
 * -> idle.woken: what a guest did to the worker before the word. */
static void now_searching(fi_idle *i, fi_sleeper *s)
{
    fi_fetch_add_relaxed(&i->state, FI_IDLE_SEARCHER - 1u);
    fi_store_release(&s->asleep, FI_AWAKE, idle.wake);
}

static fi_sleeper *take_one(fi_idle *i)
{
    fi_sleeper *s = NULL;

    fi_lock_lock(&i->lock);
    if (searchers(fi_load_relaxed(&i->state)) == 0 && i->sleepers) {
        s = i->sleepers;
        i->sleepers = s->next;
        now_searching(i, s);
    }
    fi_lock_unlock(&i->lock);
    return s;
}

bool fi_idle_notify(fi_idle *i)
{
    uint32_t state;
    fi_sleeper *s;

    fi_fence_seq_cst(idle.notify.fence);
    state = fi_load_relaxed(&i->state);
    if (sleepers(state) == 0 || searchers(state) > 0)
        return false;
    s = take_one(i);
    if (s)
        fi_futex_wake(&s->asleep, 1);
    return s != NULL;
}

void fi_idle_wake_all(fi_idle *i)
{
    fi_sleeper *s;

    fi_lock_lock(&i->lock);
    for (s = i->sleepers; s; s = i->sleepers) {
        i->sleepers = s->next;
        now_searching(i, s);
        fi_futex_wake(&s->asleep, 1);
    }
    fi_lock_unlock(&i->lock);
}

static void fall_asleep(fi_idle *i, fi_sleeper *s, bool searching)
{
    bool watched;

    fi_lock_lock(&i->lock);
    fi_store_relaxed(&s->asleep, FI_ASLEEP);
    s->next = i->sleepers;
    i->sleepers = s;
    fi_fetch_add_relaxed(&i->state, searching ? 1u - FI_IDLE_SEARCHER : 1u);
    watched = i->watched;
    if (watched)
        fi_fetch_add_relaxed(&i->changes, 1u);
    fi_lock_unlock(&i->lock);
    if (watched)
        fi_futex_wake(&i->changes, 1);
}

/* Awake by our own will.  False: somebody was faster, and woke or borrowed it. */
static bool get_up(fi_idle *i, fi_sleeper *s)
{
    bool mine;

    fi_lock_lock(&i->lock);
    mine = fi_load_relaxed(&s->asleep) == FI_ASLEEP;
    if (mine) {
        fi_sleeper **link = &i->sleepers;
        while (*link != s)
            link = &(*link)->next;
        *link = s->next;
        now_searching(i, s);
    }
    fi_lock_unlock(&i->lock);
    return mine;
}

/* True: awake.  <- idle.wake */
static bool wait_until(fi_sleeper *s, int64_t deadline_ns)
{
    uint32_t asleep;

    while ((asleep = fi_load_acquire(&s->asleep, idle.woken)) != FI_AWAKE)
        if (fi_futex_wait(&s->asleep, asleep, deadline_ns) == -ETIMEDOUT)
            return false;
    return true;
}

void fi_idle_sleep(fi_idle *i, fi_sleeper *s, bool searching, bool (*anything)(void *ctx),
                   void *ctx, int64_t deadline_ns)
{
    fall_asleep(i, s, searching);
    fi_fence_seq_cst(idle.sleep.fence);
    if (anything(ctx) && !get_up(i, s) && !FI_FAULT(idle.lent))
        fi_idle_notify(i); /* it may be lent, and the guest does not look for what is there */
    if (!wait_until(s, deadline_ns)) {
        get_up(i, s);
        fi_idle_wait(s); /* it may be lent just now */
    }
}

void fi_idle_begin_asleep(fi_idle *i, fi_sleeper *s)
{
    fall_asleep(i, s, false);
}

void fi_idle_wait(fi_sleeper *s)
{
    wait_until(s, FI_FUTEX_FOREVER);
}

fi_sleeper *fi_idle_borrow(fi_idle *i)
{
    fi_sleeper *s;

    if (sleepers(fi_load_relaxed(&i->state)) == 0)
        return NULL;
    fi_lock_lock(&i->lock);
    s = i->sleepers;
    if (s) {
        i->sleepers = s->next;
        fi_fetch_add_relaxed(&i->state, 0u - 1u);
        fi_store_relaxed(&s->asleep, FI_LENT);
    }
    fi_lock_unlock(&i->lock);
    return s;
}

void fi_idle_give_back(fi_idle *i, fi_sleeper *s, bool searching, bool (*anything)(void *ctx),
                       void *ctx)
{
    fall_asleep(i, s, searching);
    fi_fence_seq_cst(idle.back.fence);
    if (!anything(ctx))
        return;
    if (get_up(i, s))
        fi_futex_wake(&s->asleep, 1);
    else if (!FI_FAULT(idle.lent_again))
        fi_idle_notify(i); /* the next guest may have it already */
}

bool fi_idle_all_asleep(fi_idle *i, unsigned workers, bool (*ask)(void *ctx), void *ctx)
{
    bool yes;

    if (fi_load_relaxed(&i->state) != workers)
        return false;
    fi_lock_lock(&i->lock);
    yes = fi_load_relaxed(&i->state) == workers && ask(ctx);
    fi_lock_unlock(&i->lock);
    return yes;
}

bool fi_idle_await_all_asleep(fi_idle *i, unsigned workers, bool (*enough)(void *ctx), void *ctx,
                              int64_t deadline_ns)
{
    bool done, late = false;

    fi_lock_lock(&i->lock);
    i->watched = true;
    while (!(done = fi_load_relaxed(&i->state) == workers && enough(ctx)) && !late) {
        uint32_t changes = fi_load_relaxed(&i->changes);
        fi_lock_unlock(&i->lock);
        late = fi_futex_wait(&i->changes, changes, deadline_ns) == -ETIMEDOUT;
        fi_lock_lock(&i->lock);
    }
    i->watched = false;
    fi_lock_unlock(&i->lock);
    return done;
}
