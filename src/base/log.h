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
#ifndef FI_BASE_LOG_H
#define FI_BASE_LOG_H

#include "base/atomic.h"

#include <stdint.h>

#ifndef FI_LOG_WORDS
#define FI_LOG_WORDS 4 /* of an event */
#endif

typedef struct fi_log_event {
    uint64_t word[FI_LOG_WORDS];
} fi_log_event;

typedef struct fi_log_slot {
    FI_ATOMIC(uint64_t) word[FI_LOG_WORDS];
} fi_log_slot;

typedef struct fi_log {
    FI_ATOMIC(uint64_t) n; /* events that were put, ever */
    uint64_t capacity;     /* a power of two; so many are kept, less one while the owner puts */
    fi_log_slot *slots;
} fi_log;

/* [owner]
 * log.word -> log.read: that n is at least this number.
 * log.put -> log.look: the words. */
static inline void fi_log_put(fi_log *l, const fi_log_event *e)
{
    uint64_t i = fi_load_relaxed(&l->n);
    fi_log_slot *s = &l->slots[i & (l->capacity - 1)];

    for (int k = 0; k < FI_LOG_WORDS; k++)
        fi_store_release(&s->word[k], e->word[k], log.word);
    fi_store_release(&l->n, i + 1, log.put);
}

/* [any] How many were put, all of which can be seen.  <- log.put */
static inline uint64_t fi_log_n(fi_log *l)
{
    return fi_load_acquire(&l->n, log.look);
}

/* [any, who knows by fi_log_n that it was put] Event number i, if it is still there.  <- log.word */
static inline void fi_log_read(fi_log *l, uint64_t i, fi_log_event *e)
{
    fi_log_slot *s = &l->slots[i & (l->capacity - 1)];

    for (int k = 0; k < FI_LOG_WORDS; k++)
        e->word[k] = fi_load_acquire(&s->word[k], log.read);
}

/* [who has read events] Those from this number on were whole then.  Relaxed: log.read has seen to that. */
static inline uint64_t fi_log_first_whole(fi_log *l)
{
    uint64_t n = fi_load_relaxed(&l->n);

    return n < l->capacity ? 0 : n - l->capacity + 1;
}

#endif
