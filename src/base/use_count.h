/* A use count protects an object that many threads use and one thread may replace while it is
 * unused.
 *
 * Users do not wait for each other.  A replacer does not wait either: the close fails while there
 * are users.  Zeroed memory is an open use count of 0. */
#ifndef FI_BASE_USE_COUNT_H
#define FI_BASE_USE_COUNT_H

#include "base/atomic.h"

#include <stddef.h>

typedef struct fi_use_count {
    FI_ATOMIC(size_t) count; /* users; the highest bit is set while the object is replaced */
} fi_use_count;

void fi_use_count_init(fi_use_count *u);

/* [any] Keep the object as it is until fi_use_count_leave.  Waits while it is being replaced. */
void fi_use_count_enter(fi_use_count *u);

/* [any] False: the count was 0, which is a caller's mistake. */
bool fi_use_count_leave(fi_use_count *u);

/* [any] True: there are no users, and none can enter until fi_use_count_open. */
bool fi_use_count_try_close(fi_use_count *u);
void fi_use_count_open(fi_use_count *u);

/* [any] The number of users.  Exact only while none enters or leaves. */
size_t fi_use_count_count(fi_use_count *u);

#endif
