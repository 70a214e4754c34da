/* Sending, receiving and closing.  The channel is not touched any more once its latch is let go: whoever comes next may
 * be the last, and free it. */
#include "chan/chan.h"

#include "base/mem.h"
#include "base/mistake.h"

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
        fi_mistake("filch_chan_free of a channel that somebody waits at");
    fi_mem_free(c, bytes(c->item_size, c->capacity), FI_CACHE_LINE);
}

/* ---- send and receive ---- */

/* [latch held, which this lets go] */
static __attribute__((noinline)) int wait_in(filch_chan *c, fi_line *line, const char *what,
                                             void *item, int64_t deadline)
{
    fi_wait w = {.item = item};

    return fi_wait_in(&w, line, &c->latch, (fi_wait_for){what, c, true}, deadline);
}

/* [latch held, which this lets go] */
static inline int leave(filch_chan *c, uint32_t who, int result, fi_wait *woken)
{
    fi_latch_unlock(&c->latch, who);
    if (woken)
        fi_wait_end(woken);
    return result;
}

/* A sender's item is only read. */
static inline int send(filch_chan *c, const void *item, bool may_wait, int64_t deadline)
{
    uint32_t who = fi_party();
    fi_wait *woken = NULL;
    int e;

    fi_latch_lock(&c->latch, who);
    e = fi_chan_put(c, item, &woken);
    if (e == -EAGAIN && may_wait)
        return wait_in(c, &c->senders, "send", (void *)item, deadline);
    return leave(c, who, e, woken);
}

static inline int receive(filch_chan *c, void *item, bool may_wait, int64_t deadline)
{
    uint32_t who = fi_party();
    fi_wait *woken = NULL;
    int e;

    fi_latch_lock(&c->latch, who);
    e = fi_chan_take(c, item, &woken);
    if (e == -EAGAIN && may_wait)
        return wait_in(c, &c->receivers, "receive", item, deadline);
    return leave(c, who, e, woken);
}

int filch_chan_send(filch_chan *c, const void *item)
{
    return send(c, item, true, FI_TIMER_NEVER);
}

int filch_chan_send_until(filch_chan *c, const void *item, int64_t deadline)
{
    return send(c, item, true, deadline);
}

int filch_chan_try_send(filch_chan *c, const void *item)
{
    return send(c, item, false, 0);
}

int filch_chan_recv(filch_chan *c, void *item)
{
    return receive(c, item, true, FI_TIMER_NEVER);
}

int filch_chan_recv_until(filch_chan *c, void *item, int64_t deadline)
{
    return receive(c, item, true, deadline);
}

int filch_chan_try_recv(filch_chan *c, void *item)
{
    return receive(c, item, false, 0);
}

/* ---- close ---- */

/* [latch held] Chained by next, which nobody else looks at once they are out of line. */
static fi_wait *take_all(fi_line *line, fi_wait *chain)
{
    fi_wait *w;

    while ((w = fi_line_take(line)) != NULL) {
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

int filch_chan_close(filch_chan *c)
{
    uint32_t who = fi_party();
    fi_wait *waiting = NULL;
    bool was_open;

    fi_latch_lock(&c->latch, who);
    was_open = !c->closed;
    c->closed = true;
    if (was_open)
        waiting = take_all(&c->senders, take_all(&c->receivers, NULL));
    fi_latch_unlock(&c->latch, who);
    wake_all(waiting);
    return was_open ? 0 : -EPIPE;
}

/* ---- look ---- */

size_t filch_chan_size(filch_chan *c)
{
    size_t n;

    fi_hold(&c->latch);
    n = c->size;
    fi_let_go(&c->latch);
    return n;
}

size_t filch_chan_capacity(const filch_chan *c)
{
    return c->capacity;
}
