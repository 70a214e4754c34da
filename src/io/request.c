#include "io/request.h"

#include "base/clock.h"
#include "io/room.h"

#include <errno.h>
#include <poll.h>

#define RECEIVE_MAX ((size_t)1 << 30)

/* ---- what was done ---- */

static void link_to(fi_fd *f, fi_request *r)
{
    r->next = f->requests;
    r->link = &f->requests;
    if (r->next)
        r->next->link = &r->next;
    f->requests = r;
}

static void unlink_from(fi_request *r)
{
    *r->link = r->next;
    if (r->next)
        r->next->link = r->link;
}

void fi_request_finish(const fi_ring_done *done)
{
    fi_request *r = (fi_request *)(uintptr_t)done->whose;
    fi_fd *f = r->fd;
    fi_wait *owner, *closers;

    fi_hold_also(&f->latch);
    r->result = done->result;
    r->done = true;
    unlink_from(r);
    owner = fi_line_take(&r->line);
    if (owner)
        owner->result = 0;
    closers = fi_fd_take_closers(f);
    fi_let_go(&f->latch);
    if (owner)
        fi_wait_end(owner);
    fi_fd_wake_all(closers);
}

/* ---- making one ---- */

static void push_cancel(fi_ring *ring, const fi_request *r)
{
    fi_ring_push(ring, &(struct io_uring_sqe){.opcode = IORING_OP_ASYNC_CANCEL,
                                              .flags = IOSQE_CQE_SKIP_SUCCESS,
                                              .fd = -1,
                                              .addr = (uintptr_t)r,
                                              .user_data = FI_RING_NOBODY});
}

/* [latch held, which this lets go] */
static int wait_for_end(fi_request *r, fi_wait_for what, int64_t deadline, bool stubborn)
{
    fi_wait w = {.stubborn = stubborn};

    if (!r->done)
        return fi_wait_in(&w, &r->line, &r->fd->latch, what, deadline);
    fi_let_go(&r->fd->latch);
    return 0;
}

/* After this nobody but us knows of it. */
static void see_to_end(fi_ring *ring, fi_request *r, fi_wait_for what)
{
    fi_hold_also(&r->fd->latch);
    if (!r->done) {
        fi_let_go(&r->fd->latch);
        push_cancel(ring, r);
        fi_hold_also(&r->fd->latch);
    }
    wait_for_end(r, what, FI_TIMER_NEVER, true);
}

/* Why it has ended; 0: it was done, or there is no reason. */
static int wait_for(fi_ring *ring, fi_request *r, const fi_fd_wait *w)
{
    fi_wait_for what = {w->what, (const void *)(intptr_t)w->fd};
    int e = -ECANCELED;

    fi_hold_also(&r->fd->latch);
    if (r->closed)
        fi_let_go(&r->fd->latch);
    else
        e = wait_for_end(r, what, w->deadline, false);
    if (e < 0)
        see_to_end(ring, r, what);
    return r->closed ? -ECANCELED : e;
}

/* [latch held] From now on the descriptor is watched, once for each number. */
static bool add(fi_fd *f, fi_request *r)
{
    bool first = f->armed == 0;

    f->armed |= r->edges;
    link_to(f, r);
    return first;
}

/* A number that is being closed is told from one that was: only after that can the next call say what it is now. */
static int begin(fi_io *io, fi_fd *f, fi_request *r, const fi_fd_view *v)
{
    bool closing, other, first;
    int e;

    fi_hold_also(&f->latch);
    closing = f->closing;
    other = fi_fd_is_other(f, v);
    e = f->generation != v->generation ? -ECANCELED : other ? -EAGAIN : 0;
    first = !other && add(f, r);
    fi_let_go(&f->latch);
    if (first)
        fi_idle_add_interest(&io->runtime->idle);
    if (closing)
        fi_wait_yield();
    return e;
}

/* The result; -EAGAIN: try again. */
static int run(fi_io *io, fi_fd *f, const fi_fd_view *v, const fi_fd_wait *w, uint8_t edges,
               const struct io_uring_sqe *what)
{
    fi_request r = {.fd = f, .edges = edges};
    struct io_uring_sqe asked = *what;
    int e = begin(io, f, &r, v);

    if (e < 0)
        return e;
    asked.fd = w->fd;
    asked.user_data = (uintptr_t)&r;
    fi_ring_push(&io->ring, &asked);
    e = wait_for(&io->ring, &r, w);
    if (r.result != -ECANCELED && r.result != -EINTR)
        return r.result;
    return e < 0 ? e : -EAGAIN;
}

/* ---- kinds ---- */

static uint32_t poll_mask(short events)
{
    uint32_t mask = (uint16_t)events;

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    mask = mask << 16 | mask >> 16;
#endif
    return mask;
}

static uint8_t edges_of(short events)
{
    return (uint8_t)((events & ~POLLOUT ? 1u << FI_IO_READ : 0) |
                     (events & POLLOUT ? 1u << FI_IO_WRITE : 0));
}

/* Who asks again and again with a deadline that is over must let others run. */
int fi_request_poll(fi_io *io, fi_fd *f, const fi_fd_view *v, const fi_fd_wait *w, short events)
{
    int n;

    if (w->deadline != FI_TIMER_NEVER && w->deadline <= fi_clock_now()) {
        fi_wait_yield();
        return -ETIMEDOUT;
    }
    n = run(
        io, f, v, w, edges_of(events),
        &(struct io_uring_sqe){.opcode = IORING_OP_POLL_ADD, .poll32_events = poll_mask(events)});
    if (n > 0)
        fi_fd_is_not_dry(f, v);
    return n > 0 || n == -EAGAIN ? 0 : n;
}

ssize_t fi_request_receive(fi_io *io, fi_fd *f, const fi_fd_view *v, const fi_fd_wait *w, void *buf,
                           size_t n)
{
    return run(io, f, v, w, 1u << FI_IO_READ,
               &(struct io_uring_sqe){.opcode = IORING_OP_RECV,
                                      .addr = (uintptr_t)buf,
                                      .len = (uint32_t)(n < RECEIVE_MAX ? n : RECEIVE_MAX)});
}

/* ---- closing ---- */

static fi_request *next_to_close(fi_fd *f)
{
    fi_request *r;

    fi_hold_also(&f->latch);
    for (r = f->requests; r && r->closed;)
        r = r->next;
    if (r)
        r->closed = true;
    fi_let_go(&f->latch);
    return r;
}

/* A request that has ended meanwhile is only a number here.  If another has it by now, that one is made again. */
void fi_request_cancel_all(fi_io *io, fi_fd *f)
{
    fi_request *r;
    bool any = false;

    while ((r = next_to_close(f)) != NULL) {
        push_cancel(&io->ring, r);
        any = true;
    }
    if (any)
        fi_ring_flush(&io->ring);
}
