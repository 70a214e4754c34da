/* The parking lot: wait queues by address, where fibers and threads wait for a word to change.  It
 * is to both what a futex is to threads.
 *
 * The waiters are stored here under the address, not in the object.  So the object needs only the
 * word, and a waker does not access the object, which may be gone by then.
 *
 *     waiter                                    waker
 *     under the lock of the bucket:             change the word
 *       should_wait()?  enqueue                 under the lock of the bucket: remove the waiters
 */
#ifndef FI_WAIT_PARKING_LOT_H
#define FI_WAIT_PARKING_LOT_H

#include "wait/waitq.h"

#include <stdbool.h>
#include <stdint.h>

/* [any] Wait under the address reason.object while should_wait(arg) is true.  It is called once,
 * under the lock of the bucket.  An uncancellable wait is not ended by filch_fiber_cancel.
 * Returns: 0: woken, or should_wait was false; check the word again.  -ETIMEDOUT; -ECANCELED. */
int fi_parking_lot_wait(fi_wait_reason reason, bool uncancellable, bool (*should_wait)(void *arg),
                        void *arg, int64_t deadline_ns);

/* [any] Wake all waiters of this address. */
void fi_parking_lot_wake_all(const void *address);

#endif
