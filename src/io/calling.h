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
#ifndef FI_IO_CALLING_H
#define FI_IO_CALLING_H

#include "base/atomic.h"

#include <stdbool.h>
#include <stddef.h>

typedef FI_ATOMIC(const void *) fi_calling; /* of a worker */

/* [worker, latch of the descriptor held] -> calling.look: the call before this one, on another descriptor, is over. */
static inline void fi_calling_begin(fi_calling *c, const void *descriptor)
{
    fi_store_release(c, descriptor, calling.begin);
}

/* [worker] -> calling.look: the call is over. */
static inline void fi_calling_end(fi_calling *c)
{
    fi_store_release(c, NULL, calling.end);
}

/* [who closes, after it had the latch] <- calling.begin, calling.end */
static inline bool fi_calling_is_on(fi_calling *c, const void *descriptor)
{
    return fi_load_acquire(c, calling.look) == descriptor;
}

#endif
