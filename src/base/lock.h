/* A small lock for the slow paths below the scheduler: one word, asleep in the kernel when it
 * waits. Zeroed memory is an unlocked lock. */
#ifndef FI_BASE_LOCK_H
#define FI_BASE_LOCK_H

#include "base/atomic.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct fi_lock {
    FI_ATOMIC(uint32_t) word;
} fi_lock;

#define FI_LOCK_STATES 3u /* of the word, from 0 */

void fi_lock_init(fi_lock *l);
void fi_lock_lock(fi_lock *l);
void fi_lock_unlock(fi_lock *l);

/* [any] Can this memory be a lock at all?  False: it was never initialised. */
static inline bool fi_lock_is_valid(fi_lock *l)
{
    return fi_load_relaxed(&l->word) < FI_LOCK_STATES;
}

#endif
