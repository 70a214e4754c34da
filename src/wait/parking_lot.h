/* The lot: where fibers and threads wait for a word of somebody else's to change.  Like a futex, for both.
 *
 * Who waits is not written into the thing that is waited for, but here, under its address.  So the thing needs a
 * word and nothing else, and whoever wakes does not touch it: it may be gone by then.
 *
 *     who waits                                 who wakes
 *     under the lock of the address:            change the word
 *       is it should_wait so?  stand in waitq          under the lock of the address: take those in waitq
 */
#ifndef FI_WAIT_PARKING_LOT_H
#define FI_WAIT_PARKING_LOT_H

#include "wait/waitq.h"

#include <stdbool.h>
#include <stdint.h>

/* [any] Wait under the address of reason is waited for, while should_wait(arg) says so, which is asked once, under a lock.  Stubborn: it cannot be cancelled.
 * 0: woken, or it was not so any more (look again); -ETIMEDOUT; -ECANCELED. */
int fi_parking_lot_wait(fi_wait_reason reason, bool uncancellable, bool (*should_wait)(void *arg),
                        void *arg, int64_t deadline_ns);

/* [any] Wake all that wait under this address. */
void fi_parking_lot_wake_all(const void *address);

#endif
