/* A channel: a ring of items, a line of those who wait to receive and one of those who wait to send, under one latch.
 *
 *     somebody waits to receive    nothing is in the ring
 *     somebody waits to send       the ring is full
 *     it is closed                 nobody waits
 *
 * So an item never goes through the ring where it can go straight to who waits for it, and a receiver who makes room in
 * the ring fills it from the line of senders at once.  A part of a select that something else has claimed by now may
 * stand in a line against these rules; fi_line_take passes it over.
 */
#ifndef FI_CHAN_CHAN_H
#define FI_CHAN_CHAN_H

#include "base/compiler.h"
#include "sched/wait.h"

#include <filch/chan.h>

#include <errno.h>
#include <string.h>

/* All under the latch but what never changes.  The first line is all that a channel without a ring needs. */
struct filch_chan {
    FI_CACHE_ALIGNED fi_biased_lock latch;
    fi_line receivers, senders;
    size_t item_size; /* never changes */
    size_t size;      /* items in the ring */
    size_t capacity;  /* never changes */
    bool closed;
    bool is_word; /* an item is as large as a number or a pointer; never changes */

    FI_CACHE_ALIGNED char *in; /* where the next item goes */
    char *out;                 /* where the oldest is */
    char *end;                 /* never changes */
    char ring[];
};

/* Most items are a number or a pointer, and a call of memcpy takes as long as all the rest. */
static inline void fi_chan_copy_word(const filch_chan *c, void *to, const void *from)
{
    if (c->item_size == 8)
        memcpy(to, from, 8);
    else
        memcpy(to, from, 4);
}

static inline void fi_chan_copy(const filch_chan *c, void *to, const void *from)
{
    if (c->is_word)
        fi_chan_copy_word(c, to, from);
    else
        memcpy(to, from, c->item_size);
}

/* From a sender's item, which is all zeros where there is none. */
static inline void fi_chan_copy_in(const filch_chan *c, void *to, const void *item)
{
    if (item)
        fi_chan_copy(c, to, item);
    else
        memset(to, 0, c->item_size);
}

static inline char *fi_chan_step(filch_chan *c, char *at)
{
    at += c->item_size;
    return at == c->end ? c->ring : at;
}

/* The item at the end, or the oldest, was copied. */
static inline void fi_chan_pushed(filch_chan *c)
{
    c->in = fi_chan_step(c, c->in);
    c->size++;
}

static inline void fi_chan_popped(filch_chan *c)
{
    c->out = fi_chan_step(c, c->out);
    c->size--;
}

static inline void fi_chan_push(filch_chan *c, const void *item)
{
    fi_chan_copy_in(c, c->in, item);
    fi_chan_pushed(c);
}

static inline void fi_chan_pop(filch_chan *c, void *item)
{
    if (item)
        fi_chan_copy(c, item, c->out);
    fi_chan_popped(c);
}

/* A receiver gets zeros from a channel that is closed and empty. */
static inline void fi_chan_clear_item(const filch_chan *c, void *item)
{
    if (item)
        memset(item, 0, c->item_size);
}

static inline fi_wait *fi_chan_first(fi_line *line)
{
    return line->first ? fi_line_take(line) : NULL;
}

/* [latch held] Send or receive, if that can be done now.  woken: who is to be woken, after the latch is let go; untouched:
 * nobody.
 * Returns: 0; -EPIPE: closed; -EAGAIN: one would have to wait. */
static inline int fi_chan_put(filch_chan *c, const void *item, fi_wait **woken)
{
    fi_wait *receiver;

    if (c->closed)
        return -EPIPE;
    receiver = fi_chan_first(&c->receivers);
    if (receiver) {
        if (receiver->item)
            fi_chan_copy_in(c, receiver->item, item);
        receiver->result = 0;
        *woken = receiver;
        return 0;
    }
    if (c->size == c->capacity)
        return -EAGAIN;
    fi_chan_push(c, item);
    return 0;
}

static inline int fi_chan_take(filch_chan *c, void *item, fi_wait **woken)
{
    bool kept = c->size > 0;
    fi_wait *sender;

    if (kept)
        fi_chan_pop(c, item);
    sender = fi_chan_first(&c->senders);
    if (sender) {
        if (kept)
            fi_chan_push(c, sender->item);
        else if (item)
            fi_chan_copy_in(c, item, sender->item);
        sender->result = 0;
        *woken = sender;
        return 0;
    }
    if (kept)
        return 0;
    if (!c->closed)
        return -EAGAIN;
    fi_chan_clear_item(c, item);
    return -EPIPE;
}

#endif
