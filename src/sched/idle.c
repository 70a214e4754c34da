/* Sleeping and waking.  The list is short and changes seldom, so it is behind a lock; only the
 * question whether anybody sleeps at all is asked often, and that is one load after a fence. */
#include "sched/idle.h"

#include "base/futex.h"
#include "sched/poller.h"

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
    i->quiesce_waiters = false;
    fi_atomic_init(&i->quiesce_seq, 0);
    i->timer_sleeper = NULL;
    fi_atomic_init(&i->timer_sleeper_ns, FI_FUTEX_FOREVER);
    i->poller = NULL;
    fi_atomic_init(&i->polling, NULL);
    fi_atomic_init(&i->n_interests, 0);
    i->polls = 0;
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

/* [lock held] Sleep until then only if nobody else does: one is enough to be in time. */
static int64_t keep_time(fi_idle *i, fi_sleeper *s, int64_t deadline_ns)
{
    if (deadline_ns >= fi_load_relaxed(&i->timer_sleeper_ns))
        return FI_FUTEX_FOREVER;
    i->timer_sleeper = s;
    fi_store_relaxed(&i->timer_sleeper_ns, deadline_ns);
    return deadline_ns;
}

/* [lock held] */
static void stop_keeping(fi_idle *i, const fi_sleeper *s)
{
    if (i->timer_sleeper != s || FI_FAULT(idle.keeps_on))
        return;
    i->timer_sleeper = NULL;
    fi_store_relaxed(&i->timer_sleeper_ns, FI_FUTEX_FOREVER);
}

/* [lock held] A sleeper that is out of the list searches.
 * -> idle.woken: what a guest did to the worker before the word. */
static void now_searching(fi_idle *i, fi_sleeper *s)
{
    stop_keeping(i, s);
    fi_fetch_add_relaxed(&i->state, FI_IDLE_SEARCHER - 1u);
    fi_store_release(&s->asleep, FI_AWAKE, idle.wake);
}

/* ---- who polls ---- */

/* [lock held] */
static bool is_polling(fi_idle *i, const fi_sleeper *s)
{
    return i->poller && fi_load_relaxed(&i->polling) == s;
}

/* [lock held] */
static bool begin_polling(fi_idle *i, fi_sleeper *s)
{
    if (!i->poller || !fi_idle_is_unpolled(i))
        return false;
    fi_store_relaxed(&i->polling, s);
    i->polls++;
    return true;
}

bool fi_idle_poll_seq(fi_idle *i, uint32_t *number)
{
    bool is;

    fi_lock_lock(&i->lock);
    is = fi_load_relaxed(&i->polling) != NULL;
    *number = i->polls;
    fi_lock_unlock(&i->lock);
    return is;
}

/* Only by itself, when it has come out of there: two in the poller would take each other's interrupts. */
static void end_polling(fi_idle *i, fi_sleeper *s)
{
    fi_lock_lock(&i->lock);
    if (is_polling(i, s) && !FI_FAULT(idle.polls_on))
        fi_store_relaxed(&i->polling, NULL);
    fi_lock_unlock(&i->lock);
}

fi_poller *fi_idle_set_poller(fi_idle *i, fi_poller *p)
{
    fi_lock_lock(&i->lock);
    if (!i->poller)
        i->poller = p;
    p = i->poller;
    fi_lock_unlock(&i->lock);
    return p;
}

void fi_idle_add_interest(fi_idle *i)
{
    if (fi_fetch_add_relaxed(&i->n_interests, 1u) == 0 && !FI_FAULT(idle.first_watched))
        fi_idle_notify(i);
}

void fi_idle_remove_interest(fi_idle *i)
{
    fi_fetch_add_relaxed(&i->n_interests, 0u - 1u);
}

/* ---- waking ---- */

/* Somebody who is out of the list and awake, but may not know it. */
typedef struct woken {
    fi_sleeper *sleeper; /* NULL: nobody */
    bool polls;
} woken;

/* [lock held] The first of the list, and who polls only if it is the only one. */
static woken pick(fi_idle *i)
{
    fi_sleeper **link = &i->sleepers;
    woken w = {*link, *link && is_polling(i, *link)};

    if (w.polls && w.sleeper->next) {
        link = &w.sleeper->next;
        w = (woken){*link, false};
    }
    if (w.sleeper)
        *link = w.sleeper->next;
    return w;
}

static woken take_one(fi_idle *i)
{
    woken w = {NULL, false};

    fi_lock_lock(&i->lock);
    if (searchers(fi_load_relaxed(&i->state)) == 0) {
        w = pick(i);
        if (w.polls && FI_FAULT(idle.comes_out))
            fi_store_relaxed(&i->polling, NULL);
        if (w.sleeper)
            now_searching(i, w.sleeper);
    }
    fi_lock_unlock(&i->lock);
    return w;
}

static void rouse(fi_idle *i, woken w)
{
    if (w.polls)
        i->poller->interrupt(i->poller);
    else
        fi_futex_wake(&w.sleeper->asleep, 1);
}

bool fi_idle_notify(fi_idle *i)
{
    uint32_t state;
    woken w;

    fi_fence_seq_cst(idle.notify.fence);
    state = fi_load_relaxed(&i->state);
    if (sleepers(state) == 0 || searchers(state) > 0)
        return false;
    w = take_one(i);
    if (w.sleeper)
        rouse(i, w);
    return w.sleeper != NULL;
}

void fi_idle_wake_all(fi_idle *i)
{
    fi_lock_lock(&i->lock);
    while (i->sleepers) {
        woken w = pick(i);
        now_searching(i, w.sleeper);
        rouse(i, w);
    }
    fi_lock_unlock(&i->lock);
}

/* True: as the one who polls.  The deadline is FI_FUTEX_FOREVER then if somebody else keeps it. */
static bool fall_asleep(fi_idle *i, fi_sleeper *s, bool searching, bool may_poll,
                        int64_t *deadline_ns)
{
    bool watched, polls;

    fi_lock_lock(&i->lock);
    fi_store_relaxed(&s->asleep, FI_ASLEEP);
    s->next = i->sleepers;
    i->sleepers = s;
    fi_fetch_add_relaxed(&i->state, searching ? 1u - FI_IDLE_SEARCHER : 1u);
    polls = may_poll && begin_polling(i, s);
    *deadline_ns = keep_time(i, s, *deadline_ns);
    watched = i->quiesce_waiters;
    if (watched)
        fi_fetch_add_relaxed(&i->quiesce_seq, 1u);
    fi_lock_unlock(&i->lock);
    if (watched)
        fi_futex_wake(&i->quiesce_seq, 1);
    return polls;
}

/* Awake, if it is asleep; nobody: somebody was faster, and woke or borrowed it. */
static woken get_up(fi_idle *i, fi_sleeper *s)
{
    woken w = {NULL, false};

    fi_lock_lock(&i->lock);
    if (fi_load_relaxed(&s->asleep) == FI_ASLEEP) {
        fi_sleeper **link = &i->sleepers;
        while (*link != s)
            link = &(*link)->next;
        *link = s->next;
        w = (woken){s, is_polling(i, s)};
        now_searching(i, s);
    }
    fi_lock_unlock(&i->lock);
    return w;
}

typedef struct nap {
    fi_idle *idle;
    fi_sleeper *sleeper;
    bool polls;
} nap;

/* The poller has something to tell.  What it makes ready is for a worker that is awake; and as that may be much,
 * somebody else may poll meanwhile. */
static void wake_from_poll(void *arg)
{
    const nap *n = arg;

    get_up(n->idle, n->sleeper);
    end_polling(n->idle, n->sleeper);
}

/* -ETIMEDOUT; else look again. */
static int take_nap(nap *n, uint32_t asleep, int64_t deadline_ns)
{
    fi_poller *p;

    if (!n->polls)
        return fi_futex_wait(&n->sleeper->asleep, asleep, deadline_ns);
    p = n->idle->poller;
    return p->poll(p, deadline_ns, wake_from_poll, n);
}

/* True: awake.  <- idle.wake */
static bool wait_until(nap *n, int64_t deadline_ns)
{
    uint32_t asleep;

    while ((asleep = fi_load_acquire(&n->sleeper->asleep, idle.woken)) != FI_AWAKE)
        if (take_nap(n, asleep, deadline_ns) == -ETIMEDOUT)
            return false;
    return true;
}

void fi_idle_sleep(fi_idle *i, fi_sleeper *s, bool searching, bool (*anything)(void *ctx),
                   void *ctx, int64_t deadline_ns)
{
    nap n = {i, s, fall_asleep(i, s, searching, true, &deadline_ns)};

    fi_fence_seq_cst(idle.sleep.fence);
    if (anything(ctx) && !get_up(i, s).sleeper && !FI_FAULT(idle.lent))
        fi_idle_notify(i); /* it may be lent, and the guest does not look for what is there */
    if (!wait_until(&n, deadline_ns)) {
        get_up(i, s);
        fi_idle_wait(s); /* it may be lent just now */
    }
    if (n.polls)
        end_polling(i, s);
}

void fi_idle_init_asleep(fi_idle *i, fi_sleeper *s)
{
    int64_t never = FI_FUTEX_FOREVER;

    fall_asleep(i, s, false, false, &never);
}

void fi_idle_wait(fi_sleeper *s)
{
    nap n = {NULL, s, false};

    wait_until(&n, FI_FUTEX_FOREVER);
}

/* [lock held] Whom a guest gets: not who polls, and who keeps the time only if there is no other; NULL: nobody. */
static fi_sleeper **whom_to_lend(fi_idle *i)
{
    fi_sleeper **keeper = NULL;

    for (fi_sleeper **link = &i->sleepers; *link; link = &(*link)->next) {
        if (is_polling(i, *link))
            continue;
        if (*link != i->timer_sleeper)
            return link;
        keeper = link;
    }
    return keeper;
}

/* [lock held] */
static fi_sleeper *lend(fi_idle *i, fi_sleeper **link)
{
    fi_sleeper *s = *link;

    *link = s->next;
    fi_fetch_add_relaxed(&i->state, 0u - 1u);
    fi_store_relaxed(&s->asleep, FI_LENT);
    stop_keeping(i, s);
    return s;
}

/* The guest may not look at the time for long: of those who still sleep somebody must keep it. */
fi_sleeper *fi_idle_borrow(fi_idle *i)
{
    fi_sleeper *s = NULL, **link;
    bool kept_time = false;

    if (sleepers(fi_load_relaxed(&i->state)) == 0)
        return NULL;
    fi_lock_lock(&i->lock);
    link = whom_to_lend(i);
    if (link) {
        kept_time = *link == i->timer_sleeper;
        s = lend(i, link);
    }
    fi_lock_unlock(&i->lock);
    if (kept_time && !FI_FAULT(idle.lent_keeper))
        fi_idle_notify(i);
    return s;
}

void fi_idle_return(fi_idle *i, fi_sleeper *s, bool searching, bool (*anything)(void *ctx),
                    void *ctx)
{
    int64_t never = FI_FUTEX_FOREVER;
    woken w;

    fall_asleep(i, s, searching, false, &never);
    fi_fence_seq_cst(idle.return.fence);
    if (!anything(ctx))
        return;
    w = get_up(i, s);
    w.polls &= !FI_FAULT(idle.back_at_word);
    if (w.sleeper)
        rouse(i, w); /* its thread may have been up since, and sleep in the poller now */
    else if (!FI_FAULT(idle.lent_again))
        fi_idle_notify(i); /* the next guest may have it already */
}

/* The sleeper that kept the time detects that it no longer does, as a lent worker does. */
void fi_idle_wake_another(fi_idle *i, int64_t late_ns)
{
    woken w = {NULL, false};
    fi_sleeper **link;
    bool late;

    fi_lock_lock(&i->lock);
    late = fi_load_relaxed(&i->timer_sleeper_ns) < late_ns;
    link = whom_to_lend(i);
    if (link && !(late && *link == i->timer_sleeper)) {
        w.sleeper = *link;
        *link = w.sleeper->next;
        if (late)
            stop_keeping(i, i->timer_sleeper);
        now_searching(i, w.sleeper);
    }
    fi_lock_unlock(&i->lock);
    if (w.sleeper)
        rouse(i, w);
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

bool fi_idle_wait_all_asleep(fi_idle *i, unsigned workers, bool (*enough)(void *ctx), void *ctx,
                             int64_t deadline_ns)
{
    bool done, late = false;

    fi_lock_lock(&i->lock);
    i->quiesce_waiters = true;
    while (!(done = fi_load_relaxed(&i->state) == workers && enough(ctx)) && !late) {
        uint32_t changes = fi_load_relaxed(&i->quiesce_seq);
        fi_lock_unlock(&i->lock);
        late = fi_futex_wait(&i->quiesce_seq, changes, deadline_ns) == -ETIMEDOUT;
        fi_lock_lock(&i->lock);
    }
    i->quiesce_waiters = false;
    fi_lock_unlock(&i->lock);
    return done;
}
