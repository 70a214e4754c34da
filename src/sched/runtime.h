/* The runtime of the process: its users, start and stop. */
#ifndef FI_SCHED_RUNTIME_H
#define FI_SCHED_RUNTIME_H

#include "sched/worker.h"

/* [any thread that is not a worker] Use the runtime.  It is started if none runs, and it is not
 * stopped before fi_runtime_leave.  If it cannot be started, a message is printed and the program
 * aborts. */
fi_runtime *fi_runtime_enter(void);
void fi_runtime_leave(fi_runtime *rt);

/* [any thread] The same for a thread that holds an object of a running runtime, such as a job or a
 * parked fiber.  It succeeds also while the runtime stops. */
fi_runtime *fi_runtime_enter_unchecked(void);

/* [between enter and leave] Is the caller the only user, and is there no detached work? */
bool fi_runtime_is_only_user(fi_runtime *rt);

/* [any] The running runtime; NULL: none.  It stays until fi_runtime_unlock_running. */
fi_runtime *fi_runtime_lock_running(void);
void fi_runtime_unlock_running(void);

#endif
