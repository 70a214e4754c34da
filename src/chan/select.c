/* Select.  The locks of all channels are held at once, so that no case becomes ready between the
 * attempt and the wait.  They are taken in order of address, each once, so that two selects cannot
 * deadlock.
 *
 * The partner that completed a case of a waiting select may free the channel at once.  So the
 * select does not touch that channel again.  The other channels must stay until the select returns.
 */
#include "base/mem.h"
#include "base/message.h"
#include "base/rng.h"
#include "chan/chan.h"

#define STACK_ARMS_MAX 8 /* more arms are allocated, because a stack may be small */

typedef struct selection {
    filch_case *cases;
    size_t n;
    size_t n_chans;
    filch_chan *chans[FILCH_SELECT_MAX]; /* each once, by address */
    uint8_t order[FILCH_SELECT_MAX];     /* the cases, in random order */
} selection;

/* ---- locks ---- */

static void add_chan(selection *s, filch_chan *c)
{
    size_t i = s->n_chans;

    while (i > 0 && (uintptr_t)s->chans[i - 1] > (uintptr_t)c)
        i--;
    if (i > 0 && s->chans[i - 1] == c)
        return;
    for (size_t j = s->n_chans; j > i; j--)
        s->chans[j] = s->chans[j - 1];
    s->chans[i] = c;
    s->n_chans++;
}

static FI_NOINLINE int case_is_wrong(const filch_case *cases, size_t i, const char *function)
{
    return fi_message_invalid("%s: cases: not a filch_case_kind (case %zu: %d); use a constant of "
                              "that type",
                              function, i, (int)cases[i].kind);
}

/* Set the channels, and an order of the cases.  Returns: 0; -EINVAL: a case is wrong. */
static int add_cases(selection *s, const char *function)
{
    for (size_t i = 0; i < s->n; i++) {
        const filch_case *k = &s->cases[i];
        if (FI_UNLIKELY((unsigned)k->kind > FILCH_CASE_KIND_SEND))
            return case_is_wrong(s->cases, i, function);
        s->order[i] = (uint8_t)i;
        if (k->chan)
            add_chan(s, k->chan);
    }
    return 0;
}

/* gone: a channel that may be freed already; NULL: none. */
static void lock_all_but(const selection *s, const filch_chan *gone)
{
    for (size_t i = 0; i < s->n_chans; i++)
        if (s->chans[i] != gone)
            fi_obj_lock_second(&s->chans[i]->lock);
}

static void unlock_all_but(const selection *s, const filch_chan *gone)
{
    for (size_t i = 0; i < s->n_chans; i++)
        if (s->chans[i] != gone)
            fi_obj_unlock(&s->chans[i]->lock);
}

static void lock_all(const selection *s)
{
    if (s->n_chans == 1)
        fi_obj_lock(&s->chans[0]->lock);
    else
        lock_all_but(s, NULL);
}

/* After the last unlock the selection may be gone, with the stack of a fiber that was woken. */
static void unlock_all(void *selection_)
{
    const selection *s = selection_;
    size_t n = s->n_chans;

    for (size_t i = 0; i < n; i++)
        fi_obj_unlock(&s->chans[i]->lock);
}

/* ---- cases that are ready ---- */

static int try_case(filch_case *k, fi_waiter **woken)
{
    if (!k->chan)
        return -EAGAIN;
    return k->kind == FILCH_CASE_KIND_SEND ? fi_chan_try_send(k->chan, k->item, woken)
                                           : fi_chan_try_recv(k->chan, k->item, woken);
}

/* [locks held] In random order, so that each ready case is chosen with the same probability.  The
 * order so far may be any.
 * Returns: the index; -EAGAIN: none is ready. */
static int try_cases(selection *s, fi_waiter **woken)
{
    fi_rng *r = fi_rng_thread();

    for (size_t i = 0; i < s->n; i++) {
        uint32_t left = (uint32_t)(s->n - i);
        size_t pick = i + (left > 1 ? fi_rng_below(r, left) : 0);
        uint8_t chosen = s->order[pick];
        int e = try_case(&s->cases[chosen], woken);
        if (e != -EAGAIN) {
            s->cases[chosen].result = e;
            return chosen;
        }
        s->order[pick] = s->order[i];
        s->order[i] = chosen;
    }
    return -EAGAIN;
}

/* ---- waiting ---- */

/* [lock held] The arm of this select that was just added to the queue; NULL: none. */
static fi_waiter *arm_in(const fi_waitq *line, const fi_waiter *multi)
{
    fi_waiter *last = line->first ? line->first->prev : NULL;

    return last && last->multi == multi ? last : NULL;
}

/* [lock held] A queue holds at most one arm of a select.  Of several cases that want the same, it
 * is the first in random order. */
static void enqueue_arm(const filch_case *k, fi_waiter *arm)
{
    filch_chan *c = k->chan;
    bool is_send = k->kind == FILCH_CASE_KIND_SEND;
    fi_waitq *line = is_send ? &c->senders : &c->receivers;
    fi_waitq *other = is_send ? &c->receivers : &c->senders;

    if (arm_in(line, arm->multi))
        return;
    fi_waitq_append(line, &c->lock, arm);
    arm->twin = arm_in(other, arm->multi);
    if (arm->twin)
        arm->twin->twin = arm;
}

/* [locks held] waits has an arm for each case, and the select itself at the end. */
static void enqueue_arms(const selection *s, fi_waiter *waits)
{
    for (size_t i = 0; i < s->n; i++) {
        uint8_t at = s->order[i];
        fi_waiter *arm = &waits[at];
        fi_waiter_init(arm, s->cases[at].item);
        fi_store_relaxed(&arm->waitq, NULL);
        arm->multi = &waits[s->n];
        arm->arm = (uint32_t)at + 1;
        arm->twin = NULL;
        if (s->cases[at].chan)
            enqueue_arm(&s->cases[at], arm);
    }
}

/* Also needed after all arms were removed: the thread that releases the locks for this fiber may
 * not have released the last one yet.  done: the channel of the completed case; NULL: none. */
static void dequeue_arms(const selection *s, fi_waiter *waits, const filch_chan *done)
{
    lock_all_but(s, done);
    for (size_t i = 0; i < s->n; i++)
        if (fi_load_relaxed(&waits[i].waitq))
            fi_waitq_remove(&waits[i]);
    unlock_all_but(s, done);
}

/* [locks held, which this releases] */
static int wait_with_arms(selection *s, fi_waiter *waits, int64_t deadline)
{
    size_t n = s->n;
    fi_biased_lock own = {0};
    fi_wait_reason what = {"select", s->cases};
    int arm;

    fi_waiter_init(&waits[n], NULL);
    enqueue_arms(s, waits);
    arm = fi_waitq_wait_multi(&waits[n], &own, what, unlock_all, s, deadline);
    dequeue_arms(s, waits, arm > 0 ? s->cases[arm - 1].chan : NULL);
    if (arm <= 0)
        return arm;
    s->cases[arm - 1].result = waits[arm - 1].result;
    return arm - 1;
}

/* [locks held, which this releases] */
static FI_NOINLINE int wait_on_stack(selection *s, int64_t deadline)
{
    fi_waiter waits[STACK_ARMS_MAX + 1];

    return wait_with_arms(s, waits, deadline);
}

/* [locks held, which this releases] Memory is not allocated under a lock, so the locks are released
 * and all cases are tried again. */
static FI_NOINLINE int wait_on_heap(selection *s, int64_t deadline, fi_waiter **woken)
{
    fi_waiter *waits;
    int chosen;

    unlock_all(s);
    waits = FI_NEW_ARRAY(fi_waiter, s->n + 1);
    if (!waits)
        return -ENOMEM;
    lock_all(s);
    chosen = try_cases(s, woken);
    if (chosen == -EAGAIN)
        chosen = wait_with_arms(s, waits, deadline);
    else
        unlock_all(s);
    FI_DELETE_ARRAY(fi_waiter, waits, s->n + 1);
    return chosen;
}

/* Only the deadline or a cancellation can end this wait. */
static int wait_without_arms(selection *s, int64_t deadline)
{
    fi_waiter multi;
    fi_biased_lock own = {0};

    fi_waiter_init(&multi, NULL);
    return fi_waitq_wait_multi(&multi, &own, (fi_wait_reason){"select", s->cases}, NULL, NULL,
                               deadline);
}

static int select_until(filch_case *cases, size_t n, bool may_wait, int64_t deadline,
                        const char *function)
{
    selection s;
    fi_waiter *woken = NULL;
    int chosen;

    if (FI_UNLIKELY(n > FILCH_SELECT_MAX))
        return fi_message_invalid("%s: too many cases (%zu); use up to %d", function, n,
                                  FILCH_SELECT_MAX);
    if (FI_UNLIKELY(!cases) && n > 0)
        return fi_message_null(function, "cases", "an array of n cases");
    s.cases = cases;
    s.n = n;
    s.n_chans = 0;
    if (add_cases(&s, function) < 0)
        return -EINVAL;
    if (s.n_chans == 0)
        return may_wait ? wait_without_arms(&s, deadline) : -EAGAIN;
    lock_all(&s);
    chosen = try_cases(&s, &woken);
    if (chosen != -EAGAIN || !may_wait)
        unlock_all(&s);
    else if (n <= STACK_ARMS_MAX)
        return wait_on_stack(&s, deadline);
    else
        chosen = wait_on_heap(&s, deadline, &woken);
    if (woken)
        fi_waiter_wake(woken);
    return chosen;
}

int filch_select(filch_case *cases, size_t n)
{
    fi_wait_chaos();
    return select_until(cases, n, true, FI_TIMER_NEVER, __func__);
}

int filch_select_until(filch_case *cases, size_t n, int64_t deadline)
{
    fi_wait_chaos();
    return select_until(cases, n, true, deadline, __func__);
}

int filch_try_select(filch_case *cases, size_t n)
{
    fi_wait_chaos();
    return select_until(cases, n, false, 0, __func__);
}
