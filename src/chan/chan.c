/* Sending, receiving and closing.  A call does not touch the channel after it has released the
 * lock: the next caller may be the last one, and free it. */
#include "chan/chan.h"

#include "base/fatal.h"
#include "base/mem.h"
#include "base/message.h"
#include "base/rng.h"
#include "sched/span.h"
#include "wait/wake_list.h"

/* ---- new and free ---- */

/* Returns: 0 if a size_t cannot hold the size. */
static size_t chan_bytes(size_t item_size, size_t capacity)
{
    size_t ring_max = SIZE_MAX - sizeof(filch_chan);

    if (item_size > 0 && capacity > ring_max / item_size)
        return 0;
    return sizeof(filch_chan) + item_size * capacity;
}

/* The greater of the two is probably the mistake. */
static void report_too_large(size_t item_size, size_t capacity)
{
    bool is_item = item_size > capacity;

    fi_message_invalid("filch_chan_new: %s: too large (%zu); use less",
                       is_item ? "item_size" : "capacity", is_item ? item_size : capacity);
}

filch_chan *filch_chan_new(size_t item_size, size_t capacity)
{
    size_t n = chan_bytes(item_size, capacity);
    filch_chan *c = n > 0 ? fi_mem_alloc(n, FI_CACHE_LINE) : NULL;

    if (n == 0)
        report_too_large(item_size, capacity);
    if (!c)
        return NULL;
    c->item_size = item_size;
    c->is_small = item_size == 4 || item_size == 8;
    c->capacity = capacity;
    c->tail = c->head = c->ring;
    c->ring_end = c->ring + item_size * capacity;
    return c;
}

void filch_chan_free(filch_chan *c)
{
    if (!c)
        return;
    if (c->receivers.first || c->senders.first)
        fi_fatal("filch_chan_free: a call waits at the channel; close it, and free it when all "
                 "calls have returned");
    fi_waitq_before_free(&c->lock);
    fi_mem_free(c, chan_bytes(c->item_size, c->capacity), FI_CACHE_LINE);
}

/* ---- send and receive ----
 *
 * Usually the worker's fast lock succeeds, the item is small, and only the ring is involved.  That
 * path is inlined and calls no function.  Everything else is a tail call.
 */

#define NO_WAIT INT64_MIN /* as a deadline: return -EAGAIN instead of waiting */

/* [lock held, which this releases] */
static FI_NOINLINE int chan_wait(filch_chan *c, fi_waitq *line, const char *what, void *item,
                                 int64_t deadline)
{
    fi_waiter w;

    fi_waiter_init(&w, item);
    w.freeable = true;
    return fi_waitq_wait(&w, line, &c->lock, (fi_wait_reason){what, c}, deadline);
}

/* [lock held, which this releases] */
static int unlock_and_wake(filch_chan *c, uint32_t id, int result, fi_waiter *woken)
{
    fi_biased_lock_unlock(&c->lock, id);
    if (woken)
        fi_waiter_wake(woken);
    return result;
}

/* [lock held, which this releases] Any item, any state of the channel.  The item is only read. */
static FI_NOINLINE int send_any(filch_chan *c, const void *item, int64_t deadline, uint32_t id)
{
    fi_waiter *woken = NULL;
    int e = fi_chan_try_send(c, item, &woken);

    if (e == -EAGAIN && deadline != NO_WAIT)
        return chan_wait(c, &c->senders, "send", (void *)item, deadline);
    return unlock_and_wake(c, id, e, woken);
}

static FI_NOINLINE int receive_any(filch_chan *c, void *item, int64_t deadline, uint32_t id)
{
    fi_waiter *woken = NULL;
    int e = fi_chan_try_recv(c, item, &woken);

    if (woken)
        FI_SPAN(merge_fiber(woken->multi ? woken->multi->fiber : woken->fiber));
    if (e == -EAGAIN && deadline != NO_WAIT)
        return chan_wait(c, &c->receivers, "receive", item, deadline);
    return unlock_and_wake(c, id, e, woken);
}

/* [lock held, which this releases] fast: how the lock was taken, a constant. */
FI_INLINE int send_locked(filch_chan *c, const void *item, int64_t deadline, uint32_t id, bool fast)
{
    bool idle = !c->receivers.first && !c->closed;

    if (idle && c->size != c->capacity && c->is_small && item) {
        fi_chan_copy_small(c, c->tail, item);
        fi_chan_ring_pushed(c);
        fi_biased_lock_unlock_as(&c->lock, id, fast);
        return 0;
    }
    if (idle && c->size == c->capacity && deadline != NO_WAIT)
        return chan_wait(c, &c->senders, "send", (void *)item, deadline);
    return send_any(c, item, deadline, id);
}

FI_INLINE int receive_locked(filch_chan *c, void *item, int64_t deadline, uint32_t id, bool fast)
{
    if (c->size > 0 && !c->senders.first && c->is_small && item) {
        fi_chan_copy_small(c, item, c->head);
        fi_chan_ring_popped(c);
        fi_biased_lock_unlock_as(&c->lock, id, fast);
        return 0;
    }
    if (c->size == 0 && !c->senders.first && !c->closed && deadline != NO_WAIT)
        return chan_wait(c, &c->receivers, "receive", item, deadline);
    return receive_any(c, item, deadline, id);
}

static FI_NOINLINE int send_slow(filch_chan *c, const void *item, int64_t deadline, uint32_t id)
{
    fi_biased_lock_lock_slow(&c->lock, id);
    return send_locked(c, item, deadline, id, false);
}

static FI_NOINLINE int receive_slow(filch_chan *c, void *item, int64_t deadline, uint32_t id)
{
    fi_biased_lock_lock_slow(&c->lock, id);
    return receive_locked(c, item, deadline, id, false);
}

static FI_NOINLINE int chan_is_null(const char *function)
{
    return fi_message_null(function, "c", "a channel of filch_chan_new");
}

FI_INLINE int send_until(filch_chan *c, const void *item, int64_t deadline, const char *function)
{
    fi_wait_chaos();
    uint32_t id = fi_lock_id();

    if (FI_UNLIKELY(!c))
        return chan_is_null(function);
    if (!fi_biased_lock_try_fast(&c->lock, id))
        return send_slow(c, item, deadline, id);
    return send_locked(c, item, deadline, id, true);
}

FI_INLINE int receive_until(filch_chan *c, void *item, int64_t deadline, const char *function)
{
    fi_wait_chaos();
    uint32_t id = fi_lock_id();

    if (FI_UNLIKELY(!c))
        return chan_is_null(function);
    if (!fi_biased_lock_try_fast(&c->lock, id))
        return receive_slow(c, item, deadline, id);
    return receive_locked(c, item, deadline, id, true);
}

/* A user's deadline is never NO_WAIT. */
static int64_t user_deadline(int64_t deadline)
{
    return deadline == NO_WAIT ? NO_WAIT + 1 : deadline;
}

FI_NOINLINE int filch_chan_send(filch_chan *c, const void *item)
{
    return send_until(c, item, FI_TIMER_NEVER, __func__);
}

FI_NOINLINE int filch_chan_send_until(filch_chan *c, const void *item, int64_t deadline)
{
    return send_until(c, item, user_deadline(deadline), __func__);
}

FI_NOINLINE int filch_chan_try_send(filch_chan *c, const void *item)
{
    return send_until(c, item, NO_WAIT, __func__);
}

FI_NOINLINE int filch_chan_recv(filch_chan *c, void *item)
{
    return receive_until(c, item, FI_TIMER_NEVER, __func__);
}

FI_NOINLINE int filch_chan_recv_until(filch_chan *c, void *item, int64_t deadline)
{
    return receive_until(c, item, user_deadline(deadline), __func__);
}

FI_NOINLINE int filch_chan_try_recv(filch_chan *c, void *item)
{
    return receive_until(c, item, NO_WAIT, __func__);
}

/* ---- close ---- */

/* [lock held] */
static void end_receivers(filch_chan *c, fi_wake_list *list)
{
    fi_waiter *w;

    while ((w = fi_waitq_pop(&c->receivers)) != NULL) {
        fi_chan_clear_item(c, w->item);
        w->result = -EPIPE;
        fi_wake_list_append(list, w);
    }
}

/* [lock held] A select that waits in both queues is completed by the first one that is emptied, so
 * the order is random. */
static void end_waiters(filch_chan *c, fi_wake_list *list)
{
    bool senders_first = fi_rng_below(fi_rng_thread(), 2) == 0;

    if (senders_first)
        fi_wake_list_take_all(list, &c->senders, -EPIPE);
    end_receivers(c, list);
    if (!senders_first)
        fi_wake_list_take_all(list, &c->senders, -EPIPE);
}

int filch_chan_close(filch_chan *c)
{
    fi_wait_chaos();
    uint32_t id = fi_lock_id();
    fi_wake_list woken = {0};
    bool was_open;

    if (!c)
        return chan_is_null(__func__);
    fi_biased_lock_lock(&c->lock, id);
    was_open = !c->closed;
    c->closed = true;
    if (was_open)
        end_waiters(c, &woken);
    fi_biased_lock_unlock(&c->lock, id);
    fi_wake_list_wake(woken);
    return was_open ? 0 : -EPIPE;
}

/* ---- size ---- */

size_t filch_chan_size(filch_chan *c)
{
    size_t n;

    if (!c)
        return 0;
    fi_obj_lock(&c->lock);
    n = c->size;
    fi_obj_unlock(&c->lock);
    return n;
}

size_t filch_chan_capacity(const filch_chan *c)
{
    return c ? c->capacity : 0;
}
