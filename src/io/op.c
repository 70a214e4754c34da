#include "io/op.h"

#include "base/chaos.h"
#include "base/clock.h"
#include "base/compiler.h"
#include "io/io.h"
#include "io/nowait.h"
#include "sched/wait.h"

#include <filch/io.h>

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define CALLS_IN_A_ROW 64

bool fi_io_is_file(int fd)
{
    struct stat st;

    return fstat(fd, &st) == 0 &&
           (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode) || S_ISBLK(st.st_mode));
}

/* ---- once ---- */

static inline __attribute__((always_inline)) ssize_t attempt_once(fi_io_op *c,
                                                                  ssize_t (*attempt)(fi_io_op *c))
{
    ssize_t n;

    do
        n = fi_chaos(8) ? -EINTR : fi_chaos_io_attempt(c, attempt);
    while (n == -EINTR);
    return n;
}

static ssize_t attempt_plain(fi_io_op *c)
{
    return attempt_once(c, c->kind->attempt);
}

typedef struct offload {
    fi_io_op *call;
    ssize_t (*attempt)(fi_io_op *c);
    ssize_t result;
} offload;

/* Until it was its turn the number may have become another file's. */
static int64_t offload_run(void *arg)
{
    offload *e = arg;
    fi_io_op *c = e->call;

    if (c->on && !fi_fd_begin_offload(c->on, c->generation)) {
        e->result = -ECANCELED;
        return 0;
    }
    e->result = e->attempt(c);
    if (c->on)
        fi_fd_end_offload(c->on);
    return 0;
}

static void leave(fi_io_op *c)
{
    if (c->inside)
        fi_fd_leave(c->inside);
    c->inside = NULL;
}

ssize_t fi_io_op_offload(fi_io_op *c, ssize_t (*attempt)(fi_io_op *c))
{
    offload e = {c, attempt, 0};

    leave(c);
    return filch_run_blocking(offload_run, &e) < 0 ? -ENOMEM : e.result;
}

/* ---- on a descriptor that Filch did not open ---- */

static short poll_events(const fi_io_op *c)
{
    return c->direction == FI_IO_READ ? POLLIN : POLLOUT;
}

/* The bytes to write, up to the end of the first vector. */
static struct iovec first_bytes(const fi_io_op *c)
{
    const struct iovec *v = c->buf;
    size_t i = 0;

    if (c->unit == FI_IO_OP_BYTES)
        return (struct iovec){c->buf, c->buf ? c->n : 0};
    if (c->unit != FI_IO_OP_VECTORS)
        return (struct iovec){0};
    while (i < c->n && v[i].iov_len == 0)
        i++;
    return i < c->n ? v[i] : (struct iovec){0};
}

/* A ready terminal takes at least one byte.  The kernel does not report how many more fit. */
static ssize_t write_terminal(int fd, struct iovec v)
{
    ssize_t n = 1;
    size_t done = 0;

    while (n > 0 && done < v.iov_len && (done == 0 || fi_nowait_is_ready(fd, POLLOUT))) {
        n = fi_syscall_result(write(fd, (const char *)v.iov_base + done, 1));
        done += n > 0;
    }
    return done > 0 ? (ssize_t)done : n;
}

/* A write in blocking mode waits until all bytes are written, so it is limited to what fits.  A FIFO
 * that is ready takes PIPE_BUF bytes. */
static ssize_t attempt_in_turn(fi_io_op *c)
{
    struct iovec v = c->direction == FI_IO_WRITE ? first_bytes(c) : (struct iovec){0};

    if (v.iov_len > PIPE_BUF)
        v.iov_len = PIPE_BUF;
    if (v.iov_len > 0 && fi_nowait_is_terminal(c->fd))
        return write_terminal(c->fd, v);
    if (v.iov_len > 0 && fi_nowait_is_fifo(c->fd))
        return fi_syscall_result(write(c->fd, v.iov_base, v.iov_len));
    return c->kind->attempt(c);
}

/* [spare thread, or a thread that may block] The descriptor is ready, so this blocks only if another
 * process was faster. */
static ssize_t attempt_ready(fi_io_op *c)
{
    fi_nowait_turn turn;
    ssize_t n;

    if (!fi_nowait_begin_turn(&turn, c->fd, poll_events(c)))
        return -EAGAIN;
    n = attempt_in_turn(c);
    fi_nowait_end_turn(&turn);
    return n;
}

/* The mode is not changed, because other processes may share it. */
static ssize_t attempt_foreign(fi_io_op *c)
{
    ssize_t n = c->kind->attempt_nowait ? attempt_once(c, c->kind->attempt_nowait) : FI_NOWAIT_NONE;

    if (n != FI_NOWAIT_NONE)
        return n;
    if (fi_nowait_is_set(c->fd))
        return attempt_plain(c);
    if (!fi_nowait_is_ready(c->fd, poll_events(c)))
        return -EAGAIN;
    do
        n = fi_io_op_offload(c, attempt_ready);
    while (n == -EINTR);
    return n;
}

/* ---- in a thread ---- */

/* 0: try again.  A time-out may be shorter than the deadline is far. */
static int wait_in_thread(const fi_io_op *c)
{
    struct pollfd p = {.fd = c->fd, .events = poll_events(c)};
    int n = poll(&p, 1, fi_clock_left_ms(c->deadline));

    if (n < 0 && errno != EINTR)
        return -errno;
    return n == 0 && fi_clock_now() >= c->deadline ? -ETIMEDOUT : 0;
}

/* Without a deadline the thread may as well block in the call itself. */
static ssize_t attempt_in_thread(fi_io_op *c)
{
    if (c->deadline == FILCH_FOREVER || (!c->kind->never_a_file && fi_io_is_file(c->fd)))
        return attempt_plain(c);
    return attempt_foreign(c);
}

static ssize_t run_in_thread(fi_io_op *c)
{
    ssize_t n;
    int e = 0;

    while (e == 0) {
        if (fi_chaos(8))
            continue; /* as if nothing had come, and then something */
        n = attempt_in_thread(c);
        if (n != -EAGAIN)
            return n;
        e = wait_in_thread(c);
    }
    return e;
}

/* ---- on a fiber ---- */

typedef struct state {
    fi_io *io;
    fi_fd *fd;
    fi_fd_state view;
} state;

/* [inside] noinline, so that descriptors that Filch opened do not pay for this. */
__attribute__((noinline)) static ssize_t attempt_foreign_fd(fi_io_op *c, const fi_fd_state *v)
{
    if (!c->kind->never_a_file && !v->pollable && fi_io_is_file(c->fd))
        return fi_io_op_offload(c, attempt_plain);
    return attempt_foreign(c);
}

/* [inside] */
static inline __attribute__((always_inline)) ssize_t attempt_inside(fi_io_op *c,
                                                                    const fi_fd_state *v)
{
    return FI_LIKELY(v->opened_by_us) ? attempt_once(c, c->kind->attempt)
                                      : attempt_foreign_fd(c, v);
}

static ssize_t attempt(fi_io_op *c, const state *s)
{
    const fi_fd_state *v = &s->view;
    bool known = c->not_socket = v->not_socket;
    ssize_t n = attempt_inside(c, v);

    leave(c);
    if (n > 0 && (size_t)n < c->asked)
        fi_fd_set_drained(s->fd, v);
    if (c->not_socket && !known && v->opened_by_us)
        fi_fd_set_not_socket(s->fd, v);
    return n;
}

/* The number was closed since the call began, and may be another file's by now. */
static bool is_of_another_file(fi_io_op *c, const fi_fd_state *v)
{
    if (c->has_begun)
        return c->generation != v->generation;
    c->has_begun = !v->closing;
    c->generation = v->generation;
    return false;
}

static void enter(fi_io_op *c, state *s, bool even_drained)
{
    fi_worker *w = fi_worker_self();

    c->inside = fi_fd_enter(s->fd, c->direction, even_drained, w, &s->view) ? w : NULL;
}

/* What is drained needs no attempt before the wait.  But if time is over then, one must have been made. */
static ssize_t attempt_late(fi_io_op *c, state *s)
{
    enter(c, s, true);
    if (c->inside && !is_of_another_file(c, &s->view))
        return attempt(c, s);
    leave(c);
    return -EAGAIN;
}

static ssize_t await(fi_io_op *c, state *s, const fi_fd_wait *w)
{
    ssize_t n;
    int e;

    e = fi_fd_await(s->io, s->fd, &s->view, w);
    if (e == -EPERM && s->view.pollable)
        return -EAGAIN; /* now a regular file has the number, as the next attempt finds */
    if (e == -ETIMEDOUT && s->view.drained && (n = attempt_late(c, s)) != -EAGAIN)
        return n;
    return e < 0 ? e : -EAGAIN;
}

/* What the number is can be said only after it was closed. */
static ssize_t run_on_fiber(fi_io_op *c, state *s)
{
    fi_fd_wait w = {c->fd, c->direction, c->kind->what, c->deadline};
    ssize_t n;

    c->on = s->fd;
    for (;;) {
        enter(c, s, false);
        if (is_of_another_file(c, &s->view)) {
            leave(c);
            return -ECANCELED;
        }
        if (s->view.closing || fi_chaos(4)) {
            leave(c);
            fi_wait_yield(); /* by bad luck: as if nothing had come, and then something */
            continue;
        }
        if (c->inside && (n = attempt(c, s)) != -EAGAIN)
            return n;
        if ((n = await(c, s, &w)) != -EAGAIN)
            return n;
    }
}

/* Who is never made to wait, as so much comes in, must still let others run. */
void fi_io_yield_in_turn(void)
{
    fi_worker *w = fi_worker_self();
    uint32_t tick = fi_load_relaxed(&w->tick);

    if (w->io_tick != tick) {
        w->io_tick = tick;
        w->io_streak = 0;
    } else if (++w->io_streak == CALLS_IN_A_ROW) {
        fi_wait_yield();
    }
}

ssize_t fi_io_op_run(fi_io_op *c)
{
    fi_wait_chaos();
    fi_runtime *rt = fi_io_fiber_runtime();
    state s;
    int e;

    if (!rt)
        return run_in_thread(c);
    fi_io_yield_in_turn();
    e = fi_io_get(rt, &s.io);
    if (e == 0)
        e = fi_fd_table_get(&s.io->fd_table, c->fd, &s.fd);
    return e < 0 ? e : run_on_fiber(c, &s);
}
