/* Sleeping and waking.  The list is short and seldom changes, so a lock guards it.  Only the check
 * whether any worker sleeps is frequent, and that is one load after a fence. */
#include "sched/idle.h"

#include "base/futex.h"
#include "sched/poller.h"

#include <errno.h>
#include <stddef.h>

static uint32_t n_searchers(uint32_t state)
{
    return state / FI_IDLE_SEARCHER;
}

static uint32_t n_sleepers(uint32_t state)
{
    return state % FI_IDLE_SEARCHER;
}

void fi_idle_init(fi_idle *i)
{
    fi_atomic_init(&i->state, 0);
    fi_lock_init(&i->lock);
    i->sleepers = NULL;
    fi_atomic_init(&i->quiesce_waiters, 0);
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

    if (2 * n_searchers(state) >= workers - n_sleepers(state))
        return false;
    fi_fetch_add_relaxed(&i->state, FI_IDLE_SEARCHER);
    return true;
}

/* idle.found -> idle.sleep.fence: the items that the searcher took, before the word.  Otherwise a
 * fiber that handles a request of a later sleeper may still see them in its deque, and not publish
 * more. */
bool fi_idle_search_end(fi_idle *i)
{
    return n_searchers(fi_fetch_add_release(&i->state, 0u - FI_IDLE_SEARCHER, idle.found)) == 1;
}

/* [lock held] The deadline to sleep until.  Only one sleeper needs the earliest deadline. */
static int64_t set_timer_sleeper(fi_idle *i, fi_sleeper *s, int64_t deadline_ns)
{
    if (deadline_ns >= fi_load_relaxed(&i->timer_sleeper_ns))
        return FI_FUTEX_FOREVER;
    i->timer_sleeper = s;
    fi_store_relaxed(&i->timer_sleeper_ns, deadline_ns);
    return deadline_ns;
}

/* [lock held] */
static void clear_timer_sleeper(fi_idle *i, const fi_sleeper *s)
{
    if (i->timer_sleeper != s || FI_FAULT(idle.clear_timer_sleeper))
        return;
    i->timer_sleeper = NULL;
    fi_store_relaxed(&i->timer_sleeper_ns, FI_FUTEX_FOREVER);
}

/* [lock held] A sleeper that was removed from the list searches.
 * -> idle.woken: the changes that a borrower made to the worker, before the word. */
static void sleeper_set_searching(fi_idle *i, fi_sleeper *s)
{
    clear_timer_sleeper(i, s);
    fi_fetch_add_relaxed(&i->state, FI_IDLE_SEARCHER - 1u);
    fi_store_release(&s->asleep, FI_AWAKE, idle.wake);
}

/* ---- polling ---- */

/* [lock held] */
static bool sleeper_is_polling(fi_idle *i, const fi_sleeper *s)
{
    return i->poller && fi_load_relaxed(&i->polling) == s;
}

/* [lock held] */
static bool sleeper_begin_polling(fi_idle *i, fi_sleeper *s)
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

/* Called only by the sleeper itself, after it has left the poller.  Two threads in the poller would
 * take each other's interrupts. */
static void sleeper_end_polling(fi_idle *i, fi_sleeper *s)
{
    fi_lock_lock(&i->lock);
    if (sleeper_is_polling(i, s) && !FI_FAULT(idle.end_polling))
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
    if (fi_fetch_add_relaxed(&i->n_interests, 1u) == 0 && !FI_FAULT(idle.interest_notifies))
        fi_idle_notify(i);
}

void fi_idle_remove_interest(fi_idle *i)
{
    fi_fetch_add_relaxed(&i->n_interests, 0u - 1u);
}

/* ---- waking ---- */

/* A sleeper that was removed from the list and set awake, but whose thread may still block. */
typedef struct woken {
    fi_sleeper *sleeper; /* NULL: none */
    bool polls;
} woken;

/* [lock held] Remove the first of the list; the one that polls only if there is no other. */
static woken pick_sleeper(fi_idle *i)
{
    fi_sleeper **link = &i->sleepers;
    woken w = {*link, *link && sleeper_is_polling(i, *link)};

    if (w.polls && w.sleeper->next) {
        link = &w.sleeper->next;
        w = (woken){*link, false};
    }
    if (w.sleeper)
        *link = w.sleeper->next;
    return w;
}

static woken take_sleeper(fi_idle *i)
{
    woken w = {NULL, false};

    fi_lock_lock(&i->lock);
    if (n_searchers(fi_load_relaxed(&i->state)) == 0) {
        w = pick_sleeper(i);
        if (w.polls && FI_FAULT(idle.end_polling_early))
            fi_store_relaxed(&i->polling, NULL);
        if (w.sleeper)
            sleeper_set_searching(i, w.sleeper);
    }
    fi_lock_unlock(&i->lock);
    return w;
}

static void wake_sleeper(fi_idle *i, woken w)
{
    if (w.polls)
        i->poller->interrupt(i->poller);
    else
        fi_futex_wake(&w.sleeper->asleep, 1);
}

/* [after a fence] Does a worker sleep, and none search? */
static bool needs_wake(fi_idle *i)
{
    uint32_t state = fi_load_relaxed(&i->state);

    return n_sleepers(state) > 0 && n_searchers(state) == 0;
}

static bool wake_one(fi_idle *i)
{
    woken w = take_sleeper(i);

    if (w.sleeper)
        wake_sleeper(i, w);
    return w.sleeper != NULL;
}

bool fi_idle_notify(fi_idle *i)
{
    fi_fence_seq_cst(idle.notify.fence);
    return needs_wake(i) && wake_one(i);
}

void fi_idle_notify_timer(fi_idle *i, int64_t deadline_ns)
{
    fi_fence_seq_cst(idle.notify_timer.fence);
    if (needs_wake(i) && deadline_ns < fi_load_relaxed(&i->timer_sleeper_ns))
        wake_one(i);
}

void fi_idle_wake_all(fi_idle *i)
{
    fi_lock_lock(&i->lock);
    while (i->sleepers) {
        woken w = pick_sleeper(i);
        sleeper_set_searching(i, w.sleeper);
        wake_sleeper(i, w);
    }
    fi_lock_unlock(&i->lock);
}

/* True: it sleeps in the poller.  *deadline_ns becomes FI_FUTEX_FOREVER if the timer sleeper has
 * that or an earlier deadline. */
static bool add_sleeper(fi_idle *i, fi_sleeper *s, bool searching, bool may_poll,
                        int64_t *deadline_ns)
{
    bool has_quiesce_waiters, polls;

    fi_lock_lock(&i->lock);
    fi_store_relaxed(&s->asleep, FI_ASLEEP);
    s->next = i->sleepers;
    i->sleepers = s;
    fi_fetch_add_relaxed(&i->state, searching ? 1u - FI_IDLE_SEARCHER : 1u);
    polls = may_poll && sleeper_begin_polling(i, s);
    *deadline_ns = set_timer_sleeper(i, s, *deadline_ns);
    has_quiesce_waiters = fi_idle_is_awaited(i);
    if (has_quiesce_waiters)
        fi_fetch_add_relaxed(&i->quiesce_seq, 1u);
    fi_lock_unlock(&i->lock);
    if (has_quiesce_waiters)
        fi_futex_wake(&i->quiesce_seq, 1);
    return polls;
}

/* Remove the sleeper from the list if it is asleep.  Returns none if another thread has woken or
 * borrowed it. */
static woken remove_sleeper(fi_idle *i, fi_sleeper *s)
{
    woken w = {NULL, false};

    fi_lock_lock(&i->lock);
    if (fi_load_relaxed(&s->asleep) == FI_ASLEEP) {
        fi_sleeper **link = &i->sleepers;
        while (*link != s)
            link = &(*link)->next;
        *link = s->next;
        w = (woken){s, sleeper_is_polling(i, s)};
        sleeper_set_searching(i, s);
    }
    fi_lock_unlock(&i->lock);
    return w;
}

void fi_idle_wake_this(fi_idle *i, fi_sleeper *s)
{
    woken w;

    fi_fence_seq_cst(idle.wake_this.fence);
    if (fi_load_relaxed(&s->asleep) != FI_ASLEEP)
        return;
    w = remove_sleeper(i, s);
    if (w.sleeper)
        wake_sleeper(i, w);
}

bool fi_idle_bind(fi_idle *i, fi_sleeper *s, bool may_be_lent)
{
    bool may;

    fi_lock_lock(&i->lock);
    may = may_be_lent || fi_load_relaxed(&s->asleep) != FI_LENT;
    if (may)
        fi_store_relaxed(&s->n_bound, fi_load_relaxed(&s->n_bound) + 1u);
    fi_lock_unlock(&i->lock);
    return may;
}

void fi_idle_unbind(fi_idle *i, fi_sleeper *s)
{
    fi_lock_lock(&i->lock);
    fi_store_relaxed(&s->n_bound, fi_load_relaxed(&s->n_bound) - 1u);
    fi_lock_unlock(&i->lock);
}

typedef struct sleep_op {
    fi_idle *idle;
    fi_sleeper *sleeper;
    bool polls;
} sleep_op;

/* The poller has events.  Only a worker that is awake can push the fibers that they make ready.
 * There may be many, so another worker may poll meanwhile. */
static void wake_from_poll(void *arg)
{
    const sleep_op *n = arg;

    remove_sleeper(n->idle, n->sleeper);
    sleeper_end_polling(n->idle, n->sleeper);
}

/* -ETIMEDOUT; otherwise the caller checks its word again. */
static int sleep_once(sleep_op *n, uint32_t asleep, int64_t deadline_ns)
{
    fi_poller *p;

    if (!n->polls)
        return fi_futex_wait(&n->sleeper->asleep, asleep, deadline_ns);
    p = n->idle->poller;
    return p->poll(p, deadline_ns, wake_from_poll, n);
}

/* True: the worker is awake.  <- idle.wake */
static bool sleep_until_awake(sleep_op *n, int64_t deadline_ns)
{
    uint32_t asleep;

    while ((asleep = fi_load_acquire(&n->sleeper->asleep, idle.woken)) != FI_AWAKE)
        if (sleep_once(n, asleep, deadline_ns) == -ETIMEDOUT)
            return false;
    return true;
}

void fi_idle_sleep(fi_idle *i, fi_sleeper *s, bool searching, bool (*anything)(void *ctx),
                   void *ctx, int64_t deadline_ns)
{
    sleep_op n = {i, s, add_sleeper(i, s, searching, true, &deadline_ns)};

    fi_fence_seq_cst(idle.sleep.fence);
    if (anything(ctx) && !remove_sleeper(i, s).sleeper && !FI_FAULT(idle.sleep_notifies))
        fi_idle_notify(i); /* the worker may be lent, and the borrower does not search */
    if (!sleep_until_awake(&n, deadline_ns)) {
        remove_sleeper(i, s);
        fi_idle_wait(s); /* it may have been lent meanwhile */
    }
    if (n.polls)
        sleeper_end_polling(i, s);
}

void fi_idle_init_asleep(fi_idle *i, fi_sleeper *s)
{
    int64_t never = FI_FUTEX_FOREVER;

    add_sleeper(i, s, false, false, &never);
}

void fi_idle_wait(fi_sleeper *s)
{
    sleep_op n = {NULL, s, false};

    sleep_until_awake(&n, FI_FUTEX_FOREVER);
}

/* [lock held] A sleeper that does not poll, with or without bound fibers.  The timer sleeper only
 * if there is no other.  NULL: none. */
static fi_sleeper **pick_replaceable(fi_idle *i, bool with_bound)
{
    fi_sleeper **timer_sleeper = NULL;

    for (fi_sleeper **link = &i->sleepers; *link; link = &(*link)->next) {
        if (sleeper_is_polling(i, *link) || (!with_bound && fi_load_relaxed(&(*link)->n_bound) > 0))
            continue;
        if (*link != i->timer_sleeper)
            return link;
        timer_sleeper = link;
    }
    return timer_sleeper;
}

/* [lock held] */
static fi_sleeper *lend_sleeper(fi_idle *i, fi_sleeper **link)
{
    fi_sleeper *s = *link;

    *link = s->next;
    fi_fetch_add_relaxed(&i->state, 0u - 1u);
    fi_store_relaxed(&s->asleep, FI_LENT);
    clear_timer_sleeper(i, s);
    return s;
}

/* The borrower may not fire timers for a long time, so another sleeper must replace the timer
 * sleeper. */
fi_sleeper *fi_idle_borrow(fi_idle *i)
{
    fi_sleeper *s = NULL, **link;
    bool was_timer_sleeper = false;

    if (n_sleepers(fi_load_relaxed(&i->state)) == 0)
        return NULL;
    fi_lock_lock(&i->lock);
    link = pick_replaceable(i, false);
    if (link) {
        was_timer_sleeper = *link == i->timer_sleeper;
        s = lend_sleeper(i, link);
    }
    fi_lock_unlock(&i->lock);
    if (was_timer_sleeper && !FI_FAULT(idle.borrow_notifies))
        fi_idle_notify(i);
    return s;
}

void fi_idle_return(fi_idle *i, fi_sleeper *s, bool searching, bool (*anything)(void *ctx),
                    void *ctx)
{
    int64_t never = FI_FUTEX_FOREVER;
    woken w;

    add_sleeper(i, s, searching, false, &never);
    fi_fence_seq_cst(idle.return.fence);
    if (!anything(ctx))
        return;
    w = remove_sleeper(i, s);
    w.polls &= !FI_FAULT(idle.return_interrupts);
    if (w.sleeper)
        wake_sleeper(i, w); /* its thread may have woken since, and sleep in the poller now */
    else if (!FI_FAULT(idle.return_notifies))
        fi_idle_notify(i); /* the next borrower may have it already */
}

/* The former timer sleeper detects that it was replaced, as the thread of a lent worker does. */
void fi_idle_wake_another(fi_idle *i, int64_t late_ns)
{
    woken w = {NULL, false};
    fi_sleeper **link;
    bool late;

    fi_lock_lock(&i->lock);
    late = fi_load_relaxed(&i->timer_sleeper_ns) < late_ns;
    link = pick_replaceable(i, true);
    if (link && !(late && *link == i->timer_sleeper)) {
        w.sleeper = *link;
        *link = w.sleeper->next;
        if (late)
            clear_timer_sleeper(i, i->timer_sleeper);
        sleeper_set_searching(i, w.sleeper);
    }
    fi_lock_unlock(&i->lock);
    if (w.sleeper)
        wake_sleeper(i, w);
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
    fi_store_relaxed(&i->quiesce_waiters, 1u);
    while (!(done = fi_load_relaxed(&i->state) == workers && enough(ctx)) && !late) {
        uint32_t changes = fi_load_relaxed(&i->quiesce_seq);
        fi_lock_unlock(&i->lock);
        late = fi_futex_wait(&i->quiesce_seq, changes, deadline_ns) == -ETIMEDOUT;
        fi_lock_lock(&i->lock);
    }
    fi_store_relaxed(&i->quiesce_waiters, 0u);
    fi_lock_unlock(&i->lock);
    return done;
}
