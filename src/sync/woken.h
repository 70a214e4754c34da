/* Those who were taken out of their lines under a latch, to be woken when it is let go: the thing that they waited for
 * may be gone as soon as one of them goes on. */
#ifndef FI_SYNC_WOKEN_H
#define FI_SYNC_WOKEN_H

#include "sched/wait.h"

#include <filch/sync.h>

_Static_assert(sizeof(filch_latch_) == sizeof(fi_biased_lock), "one layout");
_Static_assert(_Alignof(filch_latch_) == _Alignof(fi_biased_lock), "one layout");
_Static_assert(sizeof(fi_line) == sizeof(void *), "one layout");

/* A list by next.  Zeroed: nobody. */
typedef struct fi_woken {
    fi_wait *first, *last;
} fi_woken;

/* [latch held] The first of the line, with that result; all. */
void fi_woken_take(fi_woken *list, fi_line *line, int result);
unsigned fi_woken_take_all(fi_woken *list, fi_line *line, int result);

/* [latch let go] */
void fi_woken_end(fi_woken list);

#endif
