/* One of several.  All channels' latches are held at once, so that nothing becomes ready between the look at it and the
 * wait for it.  They are taken by address, each once, so that two selects cannot wait for each other's. */
#include "base/mem.h"
#include "base/rng.h"
#include "chan/chan.h"

#define PARTS_HERE 8 /* parts of a wait on the stack, which may be small; of more, on the heap */

typedef struct selection {
    filch_case *cases;
    size_t n;
    size_t chans_n;
    filch_chan *chans[FILCH_SELECT_MAX]; /* each once, by address */
} selection;

/* ---- latches ---- */

static void add_chan(selection *s, filch_chan *c)
{
    size_t i = s->chans_n;

    while (i > 0 && (uintptr_t)s->chans[i - 1] > (uintptr_t)c)
        i--;
    if (i > 0 && s->chans[i - 1] == c)
        return;
    for (size_t j = s->chans_n; j > i; j--)
        s->chans[j] = s->chans[j - 1];
    s->chans[i] = c;
    s->chans_n++;
}

static void add_chans(selection *s)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->cases[i].chan)
            add_chan(s, s->cases[i].chan);
}

static void hold(selection *s)
{
    if (s->chans_n == 1) {
        fi_hold(&s->chans[0]->latch);
        return;
    }
    for (size_t i = 0; i < s->chans_n; i++)
        fi_hold_also(&s->chans[i]->latch);
}

/* When the last latch is let go the selection may be gone, with the stack of a fiber that was woken meanwhile. */
static void let_go(void *selection_)
{
    selection *s = selection_;
    size_t n = s->chans_n;

    for (size_t i = 0; i < n; i++)
        fi_let_go(&s->chans[i]->latch);
}

/* ---- what can be done now ---- */

static int attempt(filch_case *k, fi_wait **woken)
{
    if (!k->chan)
        return -EAGAIN;
    return k->kind == FILCH_SEND ? fi_chan_put(k->chan, k->item, woken)
                                 : fi_chan_take(k->chan, k->item, woken);
}

/* [latches held] In random order, so that each case that is ready is as likely as the others.
 * Returns: the index; -EAGAIN: none. */
static int attempt_any(selection *s, fi_wait **woken)
{
    fi_rng *r = fi_rng_thread();
    uint8_t order[FILCH_SELECT_MAX];

    for (size_t i = 0; i < s->n; i++)
        order[i] = (uint8_t)i;
    for (size_t i = 0; i < s->n; i++) {
        size_t pick = i + fi_rng_below(r, (uint32_t)(s->n - i));
        filch_case *k = &s->cases[order[pick]];
        int e = attempt(k, woken);
        if (e != -EAGAIN) {
            k->result = e;
            return order[pick];
        }
        order[pick] = order[i];
    }
    return -EAGAIN;
}

/* ---- waiting ---- */

/* The waits of a selection: a part for each case, and behind them the whole. */
static void stand_in_lines(const selection *s, fi_wait *waits, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        filch_case *k = &s->cases[i];
        fi_wait_init(&waits[i], k->item);
        waits[i].line = NULL;
        waits[i].whole = &waits[n];
        waits[i].part = (uint32_t)i + 1;
        if (k->chan)
            fi_line_add(k->kind == FILCH_SEND ? &k->chan->senders : &k->chan->receivers,
                        &k->chan->latch, &waits[i]);
    }
}

/* Also after all were taken out: whoever let the latches go for us may still be about to let go of the last. */
static void leave_lines(selection *s, fi_wait *waits, size_t n)
{
    hold(s);
    for (size_t i = 0; i < n; i++)
        if (waits[i].line)
            fi_line_remove(&waits[i]);
    let_go(s);
}

/* [latches held, which this lets go] */
static int wait_in_lines(selection *s, fi_wait *waits, int64_t deadline)
{
    size_t n = s->n;
    fi_latch own = {0};
    fi_wait_for what = {"select", s->cases};
    int part;

    fi_wait_init(&waits[n], NULL);
    stand_in_lines(s, waits, n);
    part = fi_wait_in_parts(&waits[n], &own, what, let_go, s, deadline);
    leave_lines(s, waits, n);
    if (part <= 0)
        return part;
    s->cases[part - 1].result = waits[part - 1].result;
    return part - 1;
}

/* [latches held, which this lets go] */
static __attribute__((noinline)) int wait_for_few(selection *s, int64_t deadline)
{
    fi_wait waits[PARTS_HERE + 1];

    return wait_in_lines(s, waits, deadline);
}

/* [latches held, which this lets go] Who holds latches does not ask for memory, so all cases are tried once more. */
static __attribute__((noinline)) int wait_for_many(selection *s, int64_t deadline, fi_wait **woken)
{
    fi_wait *waits;
    int chosen;

    let_go(s);
    waits = FI_NEW_ARRAY(fi_wait, s->n + 1);
    if (!waits)
        return -ENOMEM;
    hold(s);
    chosen = attempt_any(s, woken);
    if (chosen == -EAGAIN)
        chosen = wait_in_lines(s, waits, deadline);
    else
        let_go(s);
    FI_DELETE_ARRAY(fi_wait, waits, s->n + 1);
    return chosen;
}

/* There is nothing that could end it but the deadline, or to be cancelled. */
static int wait_for_nothing(selection *s, int64_t deadline)
{
    fi_wait whole;
    fi_latch own = {0};

    fi_wait_init(&whole, NULL);
    return fi_wait_in_parts(&whole, &own, (fi_wait_for){"select", s->cases}, NULL, NULL, deadline);
}

static int select_any(filch_case *cases, size_t n, bool may_wait, int64_t deadline)
{
    selection s;
    fi_wait *woken = NULL;
    int chosen;

    if (n > FILCH_SELECT_MAX)
        return -EINVAL;
    s.cases = cases;
    s.n = n;
    s.chans_n = 0;
    add_chans(&s);
    if (s.chans_n == 0)
        return may_wait ? wait_for_nothing(&s, deadline) : -EAGAIN;
    hold(&s);
    chosen = attempt_any(&s, &woken);
    if (chosen != -EAGAIN || !may_wait)
        let_go(&s);
    else if (n <= PARTS_HERE)
        return wait_for_few(&s, deadline);
    else
        chosen = wait_for_many(&s, deadline, &woken);
    if (woken)
        fi_wait_end(woken);
    return chosen;
}

int filch_select(filch_case *cases, size_t n)
{
    fi_wait_chaos();
    return select_any(cases, n, true, FI_TIMER_NEVER);
}

int filch_select_until(filch_case *cases, size_t n, int64_t deadline)
{
    fi_wait_chaos();
    return select_any(cases, n, true, deadline);
}

int filch_select_try(filch_case *cases, size_t n)
{
    fi_wait_chaos();
    return select_any(cases, n, false, 0);
}
