/* The lot: where fibers and threads wait for a word of somebody else's to change.  Like a futex, for both.
 *
 * Who waits is not written into the thing that is waited for, but here, under its address.  So the thing needs a
 * word and nothing else, and whoever wakes does not touch it: it may be gone by then.
 *
 *     who waits                                 who wakes
 *     under the latch of the address:            change the word
 *       is it still so?  stand in line          under the latch of the address: take those in line
 */
#ifndef FI_SCHED_LOT_H
#define FI_SCHED_LOT_H

#include "sched/wait.h"

#include <stdbool.h>
#include <stdint.h>

/* [any] Wait under the address of what is waited for, while still(arg) says so, which is asked once, under a latch.  Stubborn: it cannot be cancelled.
 * 0: woken, or it was not so any more (look again); -ETIMEDOUT; -ECANCELED. */
int fi_lot_wait(fi_wait_for what, bool stubborn, bool (*still)(void *arg), void *arg,
                int64_t deadline_ns);

/* [any] Wake all that wait under this address. */
void fi_lot_wake_all(const void *address);

#endif
