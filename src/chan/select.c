/* Select.  The latches of all channels are held at once, so that no case becomes ready between the
 * attempt and the wait.  They are taken in order of address, each once, so that two selects cannot
 * deadlock.
 *
 * The partner that completed a case of a waiting select may free the channel at once.  So the
 * select does not touch that channel again.  The other channels must stay until the select returns.
 */
#include "base/mem.h"
#include "base/rng.h"
#include "chan/chan.h"

#define PARTS_HERE 8 /* parts of a wait on the stack, which may be small; of more, on the heap */

typedef struct selection {
    filch_case *cases;
    size_t n;
    size_t chans_n;
    filch_chan *chans[FILCH_SELECT_MAX]; /* each once, by address */
    uint8_t order[FILCH_SELECT_MAX];     /* the cases, in the order of trying */
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

/* gone: a channel that may be freed by now; NULL: none. */
static void hold_all_but(const selection *s, const filch_chan *gone)
{
    for (size_t i = 0; i < s->chans_n; i++)
        if (s->chans[i] != gone)
            fi_hold_also(&s->chans[i]->latch);
}

static void let_go_all_but(const selection *s, const filch_chan *gone)
{
    for (size_t i = 0; i < s->chans_n; i++)
        if (s->chans[i] != gone)
            fi_let_go(&s->chans[i]->latch);
}

static void hold(const selection *s)
{
    if (s->chans_n == 1)
        fi_hold(&s->chans[0]->latch);
    else
        hold_all_but(s, NULL);
}

/* When the last latch is let go the selection may be gone, with the stack of a fiber that was woken meanwhile. */
static void let_go(void *selection_)
{
    const selection *s = selection_;
    size_t n = s->chans_n;

    for (size_t i = 0; i < n; i++)
        fi_let_go(&s->chans[i]->latch);
}

/* ---- what can be done now ---- */

static int attempt(filch_case *k, fi_wait **woken)
{
    if (!k->chan)
        return -EAGAIN;
    return k->kind == FILCH_CASE_KIND_SEND ? fi_chan_put(k->chan, k->item, woken)
                                           : fi_chan_take(k->chan, k->item, woken);
}

/* [latches held] In random order, so that each case that is ready is as likely as the others.
 * Returns: the index; -EAGAIN: none. */
static int attempt_any(selection *s, fi_wait **woken)
{
    fi_rng *r = fi_rng_thread();

    for (size_t i = 0; i < s->n; i++)
        s->order[i] = (uint8_t)i;
    for (size_t i = 0; i < s->n; i++) {
        size_t pick = i + fi_rng_below(r, (uint32_t)(s->n - i));
        uint8_t chosen = s->order[pick];
        int e = attempt(&s->cases[chosen], woken);
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

/* [latch held] The part of this whole that was added to the line; NULL: none. */
static fi_wait *part_in(const fi_line *line, const fi_wait *whole)
{
    fi_wait *last = line->first ? line->first->prev : NULL;

    return last && last->whole == whole ? last : NULL;
}

/* [latch held] Only one part of a whole is in a line.  Of several cases that want the same, it is
 * the first in random order. */
static void enqueue_part(const filch_case *k, fi_wait *part)
{
    filch_chan *c = k->chan;
    fi_line *line = k->kind == FILCH_CASE_KIND_SEND ? &c->senders : &c->receivers;
    fi_line *other = k->kind == FILCH_CASE_KIND_SEND ? &c->receivers : &c->senders;

    if (part_in(line, part->whole))
        return;
    fi_line_add(line, &c->latch, part);
    part->twin = part_in(other, part->whole);
    if (part->twin)
        part->twin->twin = part;
}

/* [latches held] The waits of a selection: a part for each case, and behind them the whole. */
static void enqueue_parts(const selection *s, fi_wait *waits)
{
    for (size_t i = 0; i < s->n; i++) {
        uint8_t at = s->order[i];
        fi_wait *part = &waits[at];
        fi_wait_init(part, s->cases[at].item);
        fi_store_relaxed(&part->line, NULL);
        part->whole = &waits[s->n];
        part->part = (uint32_t)at + 1;
        part->twin = NULL;
        if (s->cases[at].chan)
            enqueue_part(&s->cases[at], part);
    }
}

/* Also needed after all parts were removed: the thread that releases the latches for this fiber may
 * not have released the last one yet.  done: the channel of the completed case; NULL: none. */
static void leave_lines(const selection *s, fi_wait *waits, const filch_chan *done)
{
    hold_all_but(s, done);
    for (size_t i = 0; i < s->n; i++)
        if (fi_load_relaxed(&waits[i].line))
            fi_line_remove(&waits[i]);
    let_go_all_but(s, done);
}

/* [latches held, which this lets go] */
static int wait_in_lines(selection *s, fi_wait *waits, int64_t deadline)
{
    size_t n = s->n;
    fi_biased_lock own = {0};
    fi_wait_for what = {"select", s->cases};
    int part;

    fi_wait_init(&waits[n], NULL);
    enqueue_parts(s, waits);
    part = fi_wait_in_parts(&waits[n], &own, what, let_go, s, deadline);
    leave_lines(s, waits, part > 0 ? s->cases[part - 1].chan : NULL);
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
    fi_biased_lock own = {0};

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

int filch_try_select(filch_case *cases, size_t n)
{
    fi_wait_chaos();
    return select_any(cases, n, false, 0);
}
