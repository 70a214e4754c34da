/* A thing that many use at once and that one may replace, but only while nobody uses it.
 *
 * Users never wait for each other.  Who wants to replace the thing does not wait either: it is told
 * that the thing is in use.  Zeroed memory is a lease that nobody holds.
 */
#ifndef FI_BASE_USE_COUNT_H
#define FI_BASE_USE_COUNT_H

#include "base/atomic.h"

#include <stddef.h>

typedef struct fi_use_count {
    FI_ATOMIC(size_t) users; /* how many; and a bit that is set while the thing is being replaced */
} fi_use_count;

void fi_use_count_init(fi_use_count *l);

/* [any] From here until fi_use_count_leave the thing stays what it is.  Waits while it is being
 * replaced. */
void fi_use_count_enter(fi_use_count *l);

/* [any] False when nobody had entered: a caller's mistake. */
bool fi_use_count_leave(fi_use_count *l);

/* [any] True when nobody uses the thing, and nobody can until fi_use_count_open. */
bool fi_use_count_try_close(fi_use_count *l);
void fi_use_count_open(fi_use_count *l);

/* [any] How many have entered: exact only while nobody comes or goes. */
size_t fi_use_count_count(fi_use_count *l);

#endif
