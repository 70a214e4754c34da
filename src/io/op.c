#include "io/op.h"

#include "base/clock.h"
#include "base/compiler.h"
#include "io/io.h"
#include "io/syscall_guard.h"
#include "wait/waitq.h"

#include <filch/io.h>

#include <poll.h>
#include <sys/stat.h>

#define OPS_IN_A_ROW 64

bool fi_io_is_file(int fd)
{
    mode_t mode = fi_io_file_mode(fd);

    return S_ISREG(mode) || S_ISDIR(mode) || S_ISBLK(mode);
}

/* ---- the syscall guard ---- */

/* [fiber, lock held] From here to guard_leave the number is not closed, and the fiber must not
 * park. */
static void guard_enter(fi_io_op *op)
{
    op->guarding = fi_worker_self();
    fi_syscall_guard_enter(&op->guarding->syscall_guard, op->f);
}

static void guard_leave(fi_io_op *op)
{
    if (op->guarding)
        fi_syscall_guard_leave(&op->guarding->syscall_guard);
    op->guarding = NULL;
}

/* ---- offloading ---- */

typedef struct offload {
    fi_io_op *op;
    fi_io_attempt *attempt;
    ssize_t result;
} offload;

/* [blocking thread] The descriptor may have been closed while the call was queued. */
static int64_t offload_run(void *arg)
{
    offload *o = arg;
    fi_io_op *op = o->op;

    if (op->f && !fi_fd_begin_offload(op->f, op->generation)) {
        o->result = -ECANCELED;
        return 0;
    }
    o->result = o->attempt(op);
    if (op->f)
        fi_fd_end_offload(op->f);
    return 0;
}

bool fi_io_op_begin_request(fi_io_op *op)
{
    return fi_fd_begin_offload(op->f, op->generation);
}

void fi_io_op_leave_guard(fi_io_op *op)
{
    guard_leave(op);
}

void fi_io_op_end_request(fi_io_op *op)
{
    fi_fd_end_offload(op->f);
}

ssize_t fi_io_op_offload(fi_io_op *op, fi_io_attempt *attempt)
{
    offload o = {op, attempt, 0};

    guard_leave(op);
    return filch_run_blocking(offload_run, &o) < 0 ? -ENOMEM : o.result;
}

/* ---- on a thread ---- */

/* Returns 0: try again.  poll(2) may time out before the deadline. */
static int wait_on_thread(const fi_io_op *op)
{
    struct pollfd p = {.fd = op->fd, .events = fi_io_op_poll_events(op)};
    int n = poll(&p, 1, fi_clock_left_ms(op->deadline));

    if (n < 0 && errno != EINTR)
        return -errno;
    return n == 0 && fi_clock_now() >= op->deadline ? -ETIMEDOUT : 0;
}

/* Without a deadline the thread blocks in the system call itself. */
static ssize_t try_on_thread(fi_io_op *op)
{
    if (op->deadline == FILCH_FOREVER || (!op->kind->never_a_file && fi_io_is_file(op->fd)))
        return fi_io_op_attempt(op, op->kind->attempt);
    return fi_io_op_attempt_foreign(op);
}

static ssize_t run_on_thread(fi_io_op *op)
{
    ssize_t n;
    int e = 0;

    while (e == 0) {
        if (fi_chaos(8))
            continue; /* a spurious wake-up */
        n = try_on_thread(op);
        if (n != -EAGAIN)
            return n;
        e = wait_on_thread(op);
    }
    return e;
}

/* ---- on a fiber: begin ---- */

static bool is_drained(const fi_io_op *op, fi_fd *f)
{
    return op->direction == FI_IO_READ && f->opened_by_us && f->short_read_drains &&
           !f->hup_or_urgent && fi_load_relaxed(&f->drained_at) == f->edges[FI_IO_READ];
}

/* [lock held] */
static inline __attribute__((always_inline)) void record_state(fi_io_op *op, fi_fd *f)
{
    op->has_begun = true;
    op->generation = f->generation;
    op->edges[FI_IO_READ] = f->edges[FI_IO_READ];
    op->edges[FI_IO_WRITE] = f->edges[FI_IO_WRITE];
    op->opened_by_us = f->opened_by_us;
    op->not_socket = f->opened_by_us && f->not_socket;
    op->is_file = f->is_file;
    op->is_direct = f->is_direct;
    op->was_armed = f->armed != 0;
    op->drained = is_drained(op, f);
}

/* Lock the descriptor and record its state.  Returns -ECANCELED, without the lock, if the
 * number was closed since the operation began.  If the number is being closed now, its next
 * file is unknown, so the operation begins after that. */
static inline __attribute__((always_inline)) int op_begin(fi_io_op *op)
{
    fi_fd *f = op->f;

    for (;;) {
        fi_fd_lock(f);
        if (op->has_begun && f->generation != op->generation) {
            fi_fd_unlock(f);
            return -ECANCELED;
        }
        if (FI_LIKELY(!f->closing) && !fi_chaos(4)) {
            record_state(op, f);
            return 0;
        }
        fi_fd_unlock(f);
        fi_wait_yield();
    }
}

/* ---- try ---- */

/* noinline: descriptors that Filch opened do not pay for this. */
__attribute__((noinline)) static ssize_t try_foreign(fi_io_op *op)
{
    if (op->is_file || (!op->kind->never_a_file && !op->was_armed && fi_io_is_file(op->fd)))
        return fi_io_op_attempt_file(op);
    return fi_io_op_attempt_foreign(op);
}

/* [lock held, released here] A relaxed store is enough for drained_at: with another edge count
 * it has no meaning. */
static inline __attribute__((always_inline)) ssize_t op_try(fi_io_op *op)
{
    bool known = op->not_socket;
    ssize_t n;

    guard_enter(op);
    fi_fd_unlock(op->f);
    n = FI_LIKELY(op->opened_by_us) ? fi_io_op_attempt(op, op->kind->attempt) : try_foreign(op);
    guard_leave(op);
    if (n > 0 && (size_t)n < op->short_below)
        fi_store_relaxed(&op->f->drained_at, op->edges[FI_IO_READ]);
    if (op->not_socket && !known && op->opened_by_us)
        fi_fd_set_not_socket(op->f, op->generation);
    return n;
}

/* ---- wait ---- */

static unsigned op_edges(const fi_io_op *op)
{
    return op->direction == FI_IO_BOTH ? 1u << FI_IO_READ | 1u << FI_IO_WRITE : 1u << op->direction;
}

/* [lock held, also on return, unless it fails] epoll_ctl is called without the lock.  Of two
 * fibers that arm at once, the one with fewer edges may come last.  So each looks again, and
 * repeats the call if edges were added. */
static int op_arm(fi_io_op *op)
{
    fi_fd *f = op->f;
    unsigned edges = op_edges(op), armed = 0;

    while (f->generation == op->generation && (f->armed | edges) != armed) {
        bool known = f->armed != 0;
        int e;
        armed = f->armed |= (uint8_t)edges;
        guard_enter(op);
        fi_fd_unlock(f);
        if (!known)
            fi_idle_add_interest(&op->io->runtime->idle); /* once for each number */
        e = fi_epoll_arm(&op->io->epoll, op->fd, op->generation, armed, known);
        guard_leave(op);
        fi_fd_lock(f);
        if (e < 0) {
            fi_fd_arm_failed(op->io, f, op->generation);
            return e;
        }
    }
    return 0;
}

/* [lock held] A new generation counts as an edge in both directions. */
static bool has_new_edge(const fi_io_op *op)
{
    const fi_fd *f = op->f;

    return (op->direction != FI_IO_WRITE && f->edges[FI_IO_READ] != op->edges[FI_IO_READ]) ||
           (op->direction != FI_IO_READ && f->edges[FI_IO_WRITE] != op->edges[FI_IO_WRITE]);
}

static fi_wait_reason wait_reason(const fi_io_op *op)
{
    int number = op->subject ? op->subject : op->fd;

    return (fi_wait_reason){op->kind->name, (const void *)(intptr_t)number};
}

static void unlock_fd(void *f)
{
    fi_fd_unlock(f);
}

/* [lock held, released here] One arm of the wait in each of the two queues.  If the number was
 * closed, op_begin finds it. */
__attribute__((noinline)) static int enqueue_both(fi_io_op *op)
{
    fi_fd *f = op->f;
    fi_waiter multi = {.item = NULL}, arm[2] = {{.item = NULL}, {.item = NULL}};
    fi_biased_lock own = {0};
    int e;

    for (int i = 0; i < 2; i++) {
        arm[i].multi = &multi;
        arm[i].arm = (uint32_t)i + 1;
        fi_waitq_append(&f->waiters[i], &f->lock, &arm[i]);
    }
    e = fi_waitq_wait_multi(&multi, &own, wait_reason(op), unlock_fd, f, op->deadline);
    fi_fd_lock(f);
    for (int i = 0; i < 2; i++)
        if (arm[i].waitq)
            fi_waitq_remove(&arm[i]);
    fi_fd_unlock(f);
    return e < 0 ? e : 0;
}

/* [lock held, released here] Returns 0: begin again. */
static int op_wait(fi_io_op *op)
{
    fi_fd *f = op->f;
    unsigned edges = op_edges(op);
    fi_waiter w = {0};

    if (!op->opened_by_us || (f->armed & edges) != edges) {
        int e = op_arm(op);
        if (e < 0)
            return e == -EPERM && op->was_armed ? 0 : e; /* another file has the number now */
    }
    if (has_new_edge(op)) {
        fi_fd_unlock(f);
        return 0;
    }
    if (op->direction == FI_IO_BOTH)
        return enqueue_both(op);
    return fi_waitq_wait(&w, &f->waiters[op->direction], &f->lock, wait_reason(op), op->deadline);
}

/* ---- the loop ---- */

/* A drained descriptor is not tried before the wait.  If the deadline passes in that wait, it
 * is tried once, so that each operation is tried at least once. */
static ssize_t run_on_fiber(fi_io_op *op)
{
    bool is_late = false;
    ssize_t n;
    int e;

    for (;;) {
        if ((e = op_begin(op)) < 0)
            return e;
        if (!op->drained || is_late) {
            if ((n = op_try(op)) != -EAGAIN)
                return n;
            if (is_late)
                return -ETIMEDOUT;
            fi_wait_chaos();
            fi_fd_lock(op->f);
        }
        e = op_wait(op);
        is_late = e == -ETIMEDOUT && op->drained;
        if (e < 0 && !is_late)
            return e;
    }
}

/* A fiber whose operations never wait yields after OPS_IN_A_ROW of them. */
static void yield_in_turn(fi_worker *w)
{
    uint32_t tick = fi_load_relaxed(&w->tick);

    if (w->io_tick != tick) {
        w->io_tick = tick;
        w->io_streak = 0;
    } else if (++w->io_streak == OPS_IN_A_ROW) {
        fi_wait_yield();
    }
}

ssize_t fi_io_op_run(fi_io_op *op)
{
    fi_wait_chaos();
    fi_runtime *rt = fi_io_fiber_runtime();
    int e;

    if (!rt)
        return run_on_thread(op);
    yield_in_turn(fi_worker_self());
    e = fi_io_get(rt, &op->io);
    if (e == 0)
        e = fi_fd_table_get(&op->io->fd_table, op->fd, &op->f);
    return e < 0 ? e : run_on_fiber(op);
}
