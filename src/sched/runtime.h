/* The runtime of the process: its users, start and stop. */
#ifndef FI_SCHED_RUNTIME_H
#define FI_SCHED_RUNTIME_H

#include "sched/worker.h"

/* [any thread that is not a worker] Use the runtime.  It is started if none runs, and it is not
 * stopped before fi_runtime_leave.  NULL: it cannot be started, and a message has said so. */
fi_runtime *fi_runtime_enter(void);
void fi_runtime_leave(fi_runtime *rt);

/* [any thread, after fi_runtime_enter has returned NULL] Why: -errno. */
int fi_runtime_start_error(void);

/* [any thread] Like fi_runtime_enter, for a thread that holds an object of a running runtime, such
 * as a job or a parked fiber.  It succeeds also while the runtime stops. */
fi_runtime *fi_runtime_enter_unchecked(void);

/* [between enter and leave] Is the caller the only user, and is there no detached work? */
bool fi_runtime_is_only_user(fi_runtime *rt);

/* [owner of an object of a runtime, such as a job] Does the object's memory exist?  Written only while
 * no valid object exists, so it is not atomic.  The child of a fork keeps the memory of its parent's
 * runtime. */
extern bool fi_runtime_has_objects __attribute__((visibility("hidden")));

/* [any] The running runtime; NULL: none.  It stays until fi_runtime_unlock_running. */
fi_runtime *fi_runtime_lock_running(void);
void fi_runtime_unlock_running(void);

#endif
