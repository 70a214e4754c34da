/* A log: the last so many things that one thread did, a few words each.  Its owner puts, without a locked instruction, and
 * does not wait for anybody.  Anybody may copy it at any time, and knows afterwards what of the copy is whole.
 *
 *     the owner, for number i                 who copies
 *     1. n is i: so many are whole            1. read n: events below it are whole
 *     2. write the words of event i, over     2. read words
 *        those of i - capacity                3. read n again: what was written over since is not whole,
 *     3. n becomes i + 1                         nor what may be just now: number n - capacity
 *
 * Who reads a word of event i (2) reads an n that is at least i (3): so nothing that is torn is taken for whole.
 */
#ifndef FI_BASE_EVENT_RING_H
#define FI_BASE_EVENT_RING_H

#include "base/atomic.h"

#include <stdint.h>

#ifndef FI_EVENT_WORDS
#define FI_EVENT_WORDS 4 /* of an event */
#endif

typedef struct fi_event {
    uint64_t word[FI_EVENT_WORDS];
} fi_event;

typedef struct fi_event_ring_slot {
    FI_ATOMIC(uint64_t) word[FI_EVENT_WORDS];
} fi_event_ring_slot;

typedef struct fi_event_ring {
    FI_ATOMIC(uint64_t) n; /* events that were put, ever */
    uint64_t capacity;     /* a power of two; so many are kept, less one while the owner puts */
    fi_event_ring_slot *slots;
} fi_event_ring;

/* [owner]
 * event_ring.write -> event_ring.read: that n is at least this number.
 * event_ring.append -> event_ring.count: the words. */
static inline void fi_event_ring_append(fi_event_ring *l, const fi_event *e)
{
    uint64_t i = fi_load_relaxed(&l->n);
    fi_event_ring_slot *s = &l->slots[i & (l->capacity - 1)];

    for (int k = 0; k < FI_EVENT_WORDS; k++)
        fi_store_release(&s->word[k], e->word[k], event_ring.write);
    fi_store_release(&l->n, i + 1, event_ring.append);
}

/* [any] How many were put, all of which can be seen.  <- event_ring.append */
static inline uint64_t fi_event_ring_count(fi_event_ring *l)
{
    return fi_load_acquire(&l->n, event_ring.count);
}

/* [any, who knows by fi_event_ring_count that it was put] Event number i, if it is still there.  <- event_ring.write */
static inline void fi_event_ring_read(fi_event_ring *l, uint64_t i, fi_event *e)
{
    fi_event_ring_slot *s = &l->slots[i & (l->capacity - 1)];

    for (int k = 0; k < FI_EVENT_WORDS; k++)
        e->word[k] = fi_load_acquire(&s->word[k], event_ring.read);
}

/* [who has read events] Those from this number on were whole then.  Relaxed: event_ring.read has seen to that. */
static inline uint64_t fi_event_ring_first_valid(fi_event_ring *l)
{
    uint64_t n = fi_load_relaxed(&l->n);

    return n < l->capacity ? 0 : n - l->capacity + 1;
}

#endif
