/* A ring of the last `capacity` events of one thread.  The owner appends without a locked
 * instruction and without waiting.  Any thread may copy the ring at any time, and then knows which
 * events of the copy are valid.
 *
 *     owner, event number i                   reader
 *     1. count is i                           1. read count: events below it are complete
 *     2. write the words of event i over      2. read words
 *        those of event i - capacity          3. read count again: the events that were overwritten
 *     3. count = i + 1                           since, and event count - capacity, are not valid
 *
 * A reader that reads a word of event i in step 2 reads a count of at least i in step 3.  So it
 * never takes a torn event for a valid one. */
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
    FI_ATOMIC(uint64_t) count; /* events appended since the start */
    uint64_t capacity;         /* a power of two; one event less is valid while the owner appends */
    fi_event_ring_slot *slots;
} fi_event_ring;

/* [owner]
 * event_ring.write -> event_ring.read: the count is at least the number of this event.
 * event_ring.append -> event_ring.count: the words. */
static inline void fi_event_ring_append(fi_event_ring *ring, const fi_event *e)
{
    uint64_t i = fi_load_relaxed(&ring->count);
    fi_event_ring_slot *s = &ring->slots[i & (ring->capacity - 1)];

    for (int k = 0; k < FI_EVENT_WORDS; k++)
        fi_store_release(&s->word[k], e->word[k], event_ring.write);
    fi_store_release(&ring->count, i + 1, event_ring.append);
}

/* [any] The number of complete events, including overwritten ones.  <- event_ring.append */
static inline uint64_t fi_event_ring_count(fi_event_ring *ring)
{
    return fi_load_acquire(&ring->count, event_ring.count);
}

/* [any] Copy event i, which is below a result of fi_event_ring_count.  The copy is valid if i is
 * not below a later result of fi_event_ring_first_valid.  <- event_ring.write */
static inline void fi_event_ring_read(fi_event_ring *ring, uint64_t i, fi_event *e)
{
    fi_event_ring_slot *s = &ring->slots[i & (ring->capacity - 1)];

    for (int k = 0; k < FI_EVENT_WORDS; k++)
        e->word[k] = fi_load_acquire(&s->word[k], event_ring.read);
}

/* [reader, after fi_event_ring_read] The copies of events from this number on are valid.  Relaxed,
 * because event_ring.read has ordered it. */
static inline uint64_t fi_event_ring_first_valid(fi_event_ring *ring)
{
    uint64_t n = fi_load_relaxed(&ring->count);

    return n < ring->capacity ? 0 : n - ring->capacity + 1;
}

#endif
