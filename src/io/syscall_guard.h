/* The syscall guard keeps a number from being closed during a system call on it.  Without it, the
 * number could belong to another file between the check of the descriptor's state and the call.
 * The same holds for epoll_ctl: a late call would arm the next file under this one's generation.
 *
 *     operation, on a worker                      filch_close
 *     1. under the descriptor's lock:             1. under the descriptor's lock:
 *        if it is not being closed, store it         mark it as being closed
 *        in the worker's guard                    2. wait while a worker's guard holds it
 *     2. make the system call, without blocking   3. close the number
 *     3. clear the worker's guard
 *
 * The lock orders the two first steps, and the second of them sees the store of the first.  So an
 * operation needs neither a fence nor an atomic read-modify-write, and only the closer reads the
 * guards of all workers. */
#ifndef FI_IO_SYSCALL_GUARD_H
#define FI_IO_SYSCALL_GUARD_H

#include "base/atomic.h"

#include <stdbool.h>
#include <stddef.h>

/* One in each worker: the descriptor on which it makes a system call, or NULL. */
typedef FI_ATOMIC(const void *) fi_syscall_guard;

/* [worker, lock of the descriptor held] -> syscall_guard.read: the previous call of this worker, on
 * another descriptor, has ended. */
static inline void fi_syscall_guard_enter(fi_syscall_guard *g, const void *descriptor)
{
    fi_store_release(g, descriptor, syscall_guard.enter);
}

/* [worker] -> syscall_guard.read: the call has ended. */
static inline void fi_syscall_guard_leave(fi_syscall_guard *g)
{
    fi_store_release(g, NULL, syscall_guard.leave);
}

/* [closer, after it held the lock] <- syscall_guard.enter, syscall_guard.leave */
static inline bool fi_syscall_guard_protects(fi_syscall_guard *g, const void *descriptor)
{
    return fi_load_acquire(g, syscall_guard.read) == descriptor;
}

#endif
