/* System calls that are under way: a number is not closed, and so is not given to another file, between the look at what
 * is known of a descriptor and the call that was decided on by it.  Also the one that has the kernel watch it: done too late, it
 * would be the next file's events that come under this one's name.
 *
 *     who calls, on a worker                   who closes
 *     1. under the latch: is it being closed?  1. under the latch: it is being closed
 *        no: my worker's word names it         2. wait while a worker's word names it
 *     2. the system call, which does not wait  3. close the number
 *     3. my worker's word names nothing
 *
 * The latch makes one of the two come first: then the other sees what it wrote.  So nobody needs a fence or a locked
 * instruction that was not there before, and only who closes looks at all workers. */
#ifndef FI_IO_SYSCALL_GUARD_H
#define FI_IO_SYSCALL_GUARD_H

#include "base/atomic.h"

#include <stdbool.h>
#include <stddef.h>

typedef FI_ATOMIC(const void *) fi_syscall_guard; /* of a worker */

/* [worker, latch of the descriptor held] -> syscall_guard.read: the call before this one, on another descriptor, is over. */
static inline void fi_syscall_guard_enter(fi_syscall_guard *c, const void *descriptor)
{
    fi_store_release(c, descriptor, syscall_guard.enter);
}

/* [worker] -> syscall_guard.read: the call is over. */
static inline void fi_syscall_guard_leave(fi_syscall_guard *c)
{
    fi_store_release(c, NULL, syscall_guard.leave);
}

/* [who closes, after it had the latch] <- syscall_guard.enter, syscall_guard.leave */
static inline bool fi_syscall_guard_protects(fi_syscall_guard *c, const void *descriptor)
{
    return fi_load_acquire(c, syscall_guard.read) == descriptor;
}

#endif
