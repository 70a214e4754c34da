/* Sending, receiving and closing.  The channel is not touched any more once its latch is let go: whoever comes next may
 * be the last, and free it. */
#include "chan/chan.h"

#include "base/fatal.h"
#include "base/mem.h"
#include "base/rng.h"
#include "sched/span.h"

/* ---- new and free ---- */

/* 0: there is no such number. */
static size_t bytes(size_t item_size, size_t capacity)
{
    size_t room = SIZE_MAX - sizeof(filch_chan);

    if (item_size > 0 && capacity > room / item_size)
        return 0;
    return sizeof(filch_chan) + item_size * capacity;
}

filch_chan *filch_chan_new(size_t item_size, size_t capacity)
{
    size_t n = bytes(item_size, capacity);
    filch_chan *c = n > 0 ? fi_mem_alloc(n, FI_CACHE_LINE) : NULL;

    if (!c)
        return NULL;
    c->item_size = item_size;
    c->is_word = item_size == 4 || item_size == 8;
    c->capacity = capacity;
    c->in = c->out = c->ring;
    c->end = c->ring + item_size * capacity;
    return c;
}

void filch_chan_free(filch_chan *c)
{
    if (!c)
        return;
    if (c->receivers.first || c->senders.first)
        fi_fatal("filch_chan_free of a channel that somebody waits at");
    fi_wait_before_free(&c->latch);
    fi_mem_free(c, bytes(c->item_size, c->capacity), FI_CACHE_LINE);
}

/* ---- send and receive ----
 *
 * Mostly the worker is the latch's favourite, the item is a word, and it is all about the ring: that is here, and calls
 * nothing.  All else is done by functions that it ends with.
 */

#define NOT_INLINE __attribute__((noinline))

#define NO_WAIT INT64_MIN /* as a deadline: rather -EAGAIN */

/* [latch held, which this lets go] */
static NOT_INLINE int wait_in(filch_chan *c, fi_line *line, const char *what, void *item,
                              int64_t deadline)
{
    fi_wait w;

    fi_wait_init(&w, item);
    w.freeable = true;
    return fi_wait_in(&w, line, &c->latch, (fi_wait_for){what, c}, deadline);
}

/* [latch held, which this lets go] */
static int leave(filch_chan *c, uint32_t who, int result, fi_wait *woken)
{
    fi_biased_lock_unlock(&c->latch, who);
    if (woken)
        fi_wait_end(woken);
    return result;
}

/* [latch held, which this lets go]  A sender's item is only read. */
static NOT_INLINE int send_if_can(filch_chan *c, const void *item, int64_t deadline, uint32_t who)
{
    fi_wait *woken = NULL;
    int e = fi_chan_put(c, item, &woken);

    if (e == -EAGAIN && deadline != NO_WAIT)
        return wait_in(c, &c->senders, "send", (void *)item, deadline);
    return leave(c, who, e, woken);
}

static NOT_INLINE int receive_if_can(filch_chan *c, void *item, int64_t deadline, uint32_t who)
{
    fi_wait *woken = NULL;
    int e = fi_chan_take(c, item, &woken);

    if (woken)
        FI_SPAN(merge_fiber(woken->whole ? woken->whole->fiber : woken->fiber));
    if (e == -EAGAIN && deadline != NO_WAIT)
        return wait_in(c, &c->receivers, "receive", item, deadline);
    return leave(c, who, e, woken);
}

/* The same.  Who surely has to wait takes no detour. */
static inline int send_held(filch_chan *c, const void *item, int64_t deadline, uint32_t who)
{
    if (c->size == c->capacity && !c->receivers.first && !c->closed && deadline != NO_WAIT)
        return wait_in(c, &c->senders, "send", (void *)item, deadline);
    return send_if_can(c, item, deadline, who);
}

static inline int receive_held(filch_chan *c, void *item, int64_t deadline, uint32_t who)
{
    if (c->size == 0 && !c->senders.first && !c->closed && deadline != NO_WAIT)
        return wait_in(c, &c->receivers, "receive", item, deadline);
    return receive_if_can(c, item, deadline, who);
}

static NOT_INLINE int send_by_word(filch_chan *c, const void *item, int64_t deadline, uint32_t who)
{
    fi_biased_lock_lock_slow(&c->latch, who);
    return send_held(c, item, deadline, who);
}

static NOT_INLINE int receive_by_word(filch_chan *c, void *item, int64_t deadline, uint32_t who)
{
    fi_biased_lock_lock_slow(&c->latch, who);
    return receive_held(c, item, deadline, who);
}

static inline int send(filch_chan *c, const void *item, int64_t deadline)
{
    fi_wait_chaos();
    uint32_t who = fi_lock_id();

    if (FI_UNLIKELY(!c))
        return -EINVAL;
    if (!fi_biased_lock_try_fast(&c->latch, who))
        return send_by_word(c, item, deadline, who);
    if (c->size == c->capacity || c->receivers.first || c->closed || !c->is_word || !item)
        return send_held(c, item, deadline, who);
    fi_chan_copy_word(c, c->in, item);
    fi_chan_pushed(c);
    fi_biased_lock_unlock_fast(who);
    return 0;
}

static inline int receive(filch_chan *c, void *item, int64_t deadline)
{
    fi_wait_chaos();
    uint32_t who = fi_lock_id();

    if (FI_UNLIKELY(!c))
        return -EINVAL;
    if (!fi_biased_lock_try_fast(&c->latch, who))
        return receive_by_word(c, item, deadline, who);
    if (c->size == 0 || c->senders.first || !c->is_word || !item)
        return receive_held(c, item, deadline, who);
    fi_chan_copy_word(c, item, c->out);
    fi_chan_popped(c);
    fi_biased_lock_unlock_fast(who);
    return 0;
}

NOT_INLINE int filch_chan_send(filch_chan *c, const void *item)
{
    return send(c, item, FI_TIMER_NEVER);
}

/* Every time but the one that stands for something else. */
static int64_t time_of(int64_t deadline)
{
    return deadline == NO_WAIT ? NO_WAIT + 1 : deadline;
}

NOT_INLINE int filch_chan_send_until(filch_chan *c, const void *item, int64_t deadline)
{
    return send(c, item, time_of(deadline));
}

NOT_INLINE int filch_chan_try_send(filch_chan *c, const void *item)
{
    return send(c, item, NO_WAIT);
}

NOT_INLINE int filch_chan_recv(filch_chan *c, void *item)
{
    return receive(c, item, FI_TIMER_NEVER);
}

NOT_INLINE int filch_chan_recv_until(filch_chan *c, void *item, int64_t deadline)
{
    return receive(c, item, time_of(deadline));
}

NOT_INLINE int filch_chan_try_recv(filch_chan *c, void *item)
{
    return receive(c, item, NO_WAIT);
}

/* ---- close ---- */

/* [latch held] Chained by next, which nobody else looks at once they are out of line. */
static fi_wait *take_all(filch_chan *c, fi_line *line, fi_wait *chain)
{
    fi_wait *w;

    while ((w = fi_line_take(line)) != NULL) {
        if (line == &c->receivers)
            fi_chan_clear_item(c, w->item);
        w->result = -EPIPE;
        w->next = chain;
        chain = w;
    }
    return chain;
}

/* Each may be gone as soon as it is woken. */
static void wake_all(fi_wait *chain)
{
    while (chain) {
        fi_wait *w = chain;
        chain = w->next;
        fi_wait_end(w);
    }
}

/* [latch held] A select that waits in both lines leaves the one that is emptied first.  The order
 * is random. */
static fi_wait *take_waiters(filch_chan *c)
{
    if (fi_rng_below(fi_rng_thread(), 2) == 0)
        return take_all(c, &c->senders, take_all(c, &c->receivers, NULL));
    return take_all(c, &c->receivers, take_all(c, &c->senders, NULL));
}

int filch_chan_close(filch_chan *c)
{
    fi_wait_chaos();
    uint32_t who = fi_lock_id();
    fi_wait *waiting = NULL;
    bool was_open;

    if (!c)
        return -EINVAL;
    fi_biased_lock_lock(&c->latch, who);
    was_open = !c->closed;
    c->closed = true;
    if (was_open)
        waiting = take_waiters(c);
    fi_biased_lock_unlock(&c->latch, who);
    wake_all(waiting);
    return was_open ? 0 : -EPIPE;
}

/* ---- look ---- */

size_t filch_chan_size(filch_chan *c)
{
    size_t n;

    if (!c)
        return 0;
    fi_hold(&c->latch);
    n = c->size;
    fi_let_go(&c->latch);
    return n;
}

size_t filch_chan_capacity(const filch_chan *c)
{
    return c ? c->capacity : 0;
}
