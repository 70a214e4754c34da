/* A channel: a ring of items, a queue of waiting receivers and a queue of waiting senders, all
 * under one lock.
 *
 *     a receiver waits        the ring is empty
 *     a sender waits          the ring is full
 *     the channel is closed   no fiber or thread waits
 *
 * So an item goes directly to a waiting receiver and never through the ring, and a receiver that
 * takes an item from a full ring refills it from the queue of senders.  An arm of a select that was
 * completed elsewhere may still be in a queue against these rules.  fi_waitq_pop skips it.
 */
#ifndef FI_CHAN_CHAN_H
#define FI_CHAN_CHAN_H

#include "base/compiler.h"
#include "wait/waitq.h"

#include <filch/chan.h>

#include <errno.h>
#include <string.h>

/* item_size, capacity, is_small and ring_end never change.  The lock guards all other fields.  A
 * channel without a ring uses the first cache line only. */
struct filch_chan {
    FI_CACHE_ALIGNED fi_biased_lock lock;
    fi_waitq receivers, senders;
    size_t item_size;
    size_t size; /* items in the ring */
    size_t capacity;
    bool closed;
    bool is_small; /* an item has 4 or 8 bytes */

    FI_CACHE_ALIGNED char *tail; /* where the next item goes */
    char *head;                  /* the oldest item */
    char *ring_end;
    char ring[];
};

/* ---- items ---- */

/* Most items are numbers or pointers, and a call of memcpy costs as much as the rest of a send. */
static inline void fi_chan_copy_small(const filch_chan *c, void *to, const void *from)
{
    if (c->item_size == 8)
        memcpy(to, from, 8);
    else
        memcpy(to, from, 4);
}

static inline void fi_chan_copy(const filch_chan *c, void *to, const void *from)
{
    if (c->is_small)
        fi_chan_copy_small(c, to, from);
    else
        memcpy(to, from, c->item_size);
}

/* Copy a sender's item.  NULL sends zeros. */
static inline void fi_chan_copy_sent(const filch_chan *c, void *to, const void *item)
{
    if (item)
        fi_chan_copy(c, to, item);
    else
        memset(to, 0, c->item_size);
}

/* A receiver gets zeros from a channel that is closed and empty. */
static inline void fi_chan_clear_item(const filch_chan *c, void *item)
{
    if (item)
        memset(item, 0, c->item_size);
}

/* ---- the ring, with the lock held ---- */

static inline char *fi_chan_ring_next(filch_chan *c, char *at)
{
    at += c->item_size;
    return at == c->ring_end ? c->ring : at;
}

/* The item was copied to the tail. */
static inline void fi_chan_ring_pushed(filch_chan *c)
{
    c->tail = fi_chan_ring_next(c, c->tail);
    c->size++;
}

/* The item was copied from the head. */
static inline void fi_chan_ring_popped(filch_chan *c)
{
    c->head = fi_chan_ring_next(c, c->head);
    c->size--;
}

static inline void fi_chan_ring_push(filch_chan *c, const void *item)
{
    fi_chan_copy_sent(c, c->tail, item);
    fi_chan_ring_pushed(c);
}

static inline void fi_chan_ring_pop(filch_chan *c, void *item)
{
    if (item)
        fi_chan_copy(c, item, c->head);
    fi_chan_ring_popped(c);
}

/* ---- one transfer, with the lock held ---- */

static inline fi_waiter *fi_chan_take_waiter(fi_waitq *line)
{
    return line->first ? fi_waitq_pop(line) : NULL;
}

/* [lock held] Send or receive without waiting.  *woken is set to the waiter that the caller must
 * wake after it has released the lock; otherwise it is unchanged. Returns: 0; -EPIPE: closed;
 * -EAGAIN: the caller would have to wait. */
static inline int fi_chan_try_send(filch_chan *c, const void *item, fi_waiter **woken)
{
    fi_waiter *receiver;

    if (c->closed)
        return -EPIPE;
    receiver = fi_chan_take_waiter(&c->receivers);
    if (receiver) {
        if (receiver->item)
            fi_chan_copy_sent(c, receiver->item, item);
        receiver->result = 0;
        *woken = receiver;
        return 0;
    }
    if (c->size == c->capacity)
        return -EAGAIN;
    fi_chan_ring_push(c, item);
    return 0;
}

static inline int fi_chan_try_recv(filch_chan *c, void *item, fi_waiter **woken)
{
    bool from_ring = c->size > 0;
    fi_waiter *sender;

    if (from_ring)
        fi_chan_ring_pop(c, item);
    sender = fi_chan_take_waiter(&c->senders);
    if (sender) {
        if (from_ring)
            fi_chan_ring_push(c, sender->item);
        else if (item)
            fi_chan_copy_sent(c, item, sender->item);
        sender->result = 0;
        *woken = sender;
        return 0;
    }
    if (from_ring)
        return 0;
    if (!c->closed)
        return -EAGAIN;
    fi_chan_clear_item(c, item);
    return -EPIPE;
}

#endif
