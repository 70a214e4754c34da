/* A ring of the kernel's (io_uring), by its bare system calls: what is asked for is written into one queue, what was done
 * is read from another, and one call hands over much of both.
 *
 * Anybody may ask, hand over and take what was done.  The lock is held for a few lines of memory, never over a call. */
#ifndef FI_IO_RING_H
#define FI_IO_RING_H

#include "base/atomic.h"
#include "base/lock.h"

#include <linux/io_uring.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FI_RING_AT_ONCE 64 /* of what was done, taken at the most */

/* Whose it was: a pointer, or one of these. */
enum { FI_RING_NOBODY, FI_RING_INTERRUPT };

typedef struct fi_ring_done {
    uint64_t whose;
    int32_t result;
} fi_ring_done;

typedef FI_ATOMIC(uint32_t) fi_ring_word; /* shared with the kernel */

typedef struct fi_ring {
    int fd;
    fi_lock
        lock; /* guards what we write: the tail of what is asked for, the head of what was done */
    bool interrupted; /* under the lock: who waits next, or now, is to come out */
    fi_ring_word *asked_head, *asked_tail, *flags;
    fi_ring_word *done_head, *done_tail;
    uint32_t asked_mask, done_mask;
    struct io_uring_sqe *asked;
    struct io_uring_cqe *done;
    void *queues;
    size_t queues_size, asked_size;
} fi_ring;

/* [any] 0, or -errno: the kernel has none, or an old one, or it is not allowed. */
int fi_ring_init(fi_ring *r);
void fi_ring_fini(fi_ring *r);

/* [any] Ask for something.  It is handed over by the next flush, or wait. */
void fi_ring_push(fi_ring *r, const struct io_uring_sqe *what);

/* [any] Is something asked for that was not handed over? */
static inline bool fi_ring_is_pending(fi_ring *r)
{
    return fi_load_relaxed(r->asked_tail) != fi_load_relaxed(r->asked_head);
}
void fi_ring_flush(fi_ring *r);

/* [any] Hand over, and take what was done, up to FI_RING_AT_ONCE; how many.  FI_POLL_NOW as the deadline: do not wait.
 * Who waits, one at a time, may also be interrupted; 0: that, or the deadline, or no reason. */
int fi_ring_wait(fi_ring *r, fi_ring_done *done, int64_t deadline_ns);
void fi_ring_interrupt(fi_ring *r);

#endif
