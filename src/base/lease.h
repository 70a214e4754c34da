/* A thing that many use at once and that one may replace, but only while nobody uses it.
 *
 * Users never wait for each other.  Who wants to replace the thing does not wait either: it is told
 * that the thing is in use.  Zeroed memory is a lease that nobody holds.
 */
#ifndef FI_BASE_LEASE_H
#define FI_BASE_LEASE_H

#include "base/atomic.h"

#include <stddef.h>

typedef struct fi_lease {
    FI_ATOMIC(size_t) users; /* how many; and a bit that is set while the thing is being replaced */
} fi_lease;

void fi_lease_init(fi_lease *l);

/* [any] From here until fi_lease_leave the thing stays what it is.  Waits while it is being
 * replaced. */
void fi_lease_enter(fi_lease *l);

/* [any] False when nobody had entered: a caller's mistake. */
bool fi_lease_leave(fi_lease *l);

/* [any] True when nobody uses the thing, and nobody can until fi_lease_open. */
bool fi_lease_try_close(fi_lease *l);
void fi_lease_open(fi_lease *l);

/* [any] How many have entered: exact only while nobody comes or goes. */
size_t fi_lease_users(fi_lease *l);

#endif
