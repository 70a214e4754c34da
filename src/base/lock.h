/* A one-word lock for slow paths.  Waiters block their thread.  Zeroed memory is an unlocked lock.
 */
#ifndef FI_BASE_LOCK_H
#define FI_BASE_LOCK_H

#include "base/atomic.h"

#include <stdint.h>

typedef struct fi_lock {
    FI_ATOMIC(uint32_t) word;
} fi_lock;

#define FI_LOCK_CONTENDED 2u /* the word of a lock that is held and has sleepers */

void fi_lock_init(fi_lock *l);
void fi_lock_lock(fi_lock *l);
void fi_lock_unlock(fi_lock *l);

#endif
