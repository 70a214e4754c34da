/* The one runtime of the process: who uses it, when it starts, when it ends. */
#ifndef FI_SCHED_RUNTIME_H
#define FI_SCHED_RUNTIME_H

#include "sched/worker.h"

/* [any thread that is no worker] Use the runtime; it is started if none runs, and not stopped before
 * fi_runtime_leave.  A runtime that cannot be started ends the program with a line. */
fi_runtime *fi_runtime_enter(void);
void fi_runtime_leave(fi_runtime *rt);

/* [any thread] The same for who has something of a runtime that runs, such as a job or a fiber that is parked: also
 * while it is being stopped. */
fi_runtime *fi_runtime_enter_unchecked(void);

/* [between the two] Does nobody but us use it, and is there no work that nobody waits for? */
bool fi_runtime_is_only_user(fi_runtime *rt);

/* [any] Look at the runtime that runs, NULL: none.  It stays until fi_runtime_unlock_running. */
fi_runtime *fi_runtime_lock_running(void);
void fi_runtime_unlock_running(void);

#endif
