#include "io/fd.h"

#include "io/io.h"
#include "io/syscall_guard.h"
#include "wait/wake_list.h"

/* ---- waking ---- */

/* [lock held] Count an edge.  Its waiters begin their operations again, and find out what has
 * changed. */
static void count_edge(fi_fd *f, int direction, fi_wake_list *list)
{
    f->edges[direction]++;
    fi_wake_list_take_all(list, &f->waiters[direction], 0);
}

/* [lock held] So do operations that are about to wait. */
static void count_both_edges(fi_fd *f, fi_wake_list *list)
{
    count_edge(f, FI_IO_READ, list);
    count_edge(f, FI_IO_WRITE, list);
}

void fi_fd_notify(fi_fd *f, const fi_io_event *ev)
{
    fi_wake_list list = {0};

    fi_fd_lock(f);
    if (f->generation == ev->generation) {
        f->hup_or_urgent |= ev->hup_or_urgent;
        if (ev->readable)
            count_edge(f, FI_IO_READ, &list);
        if (ev->writable)
            count_edge(f, FI_IO_WRITE, &list);
    }
    fi_fd_unlock(f);
    fi_wake_list_wake(list);
}

void fi_fd_arm_failed(fi_io *io, fi_fd *f, uint32_t generation)
{
    fi_wake_list list = {0};
    bool was_armed = false;

    if (f->generation == generation) {
        was_armed = f->armed != 0;
        f->armed = 0;
        count_both_edges(f, &list);
    }
    fi_fd_unlock(f);
    if (was_armed)
        fi_idle_remove_interest(&io->runtime->idle);
    fi_wake_list_wake(list);
}

/* ---- offloaded system calls ---- */

bool fi_fd_begin_offload(fi_fd *f, uint32_t generation)
{
    bool is_same;

    fi_fd_lock(f);
    is_same = f->generation == generation;
    f->n_offloaded += is_same;
    fi_fd_unlock(f);
    return is_same;
}

void fi_fd_end_offload(fi_fd *f)
{
    fi_wake_list closers = {0};

    fi_fd_lock(f);
    if (--f->n_offloaded == 0)
        fi_wake_list_take_all(&closers, &f->closers, 0);
    fi_fd_unlock(f);
    fi_wake_list_wake(closers);
}

void fi_fd_set_not_socket(fi_fd *f, uint32_t generation)
{
    fi_fd_lock(f);
    if (f->generation == generation)
        f->not_socket = true;
    fi_fd_unlock(f);
}

/* ---- opening and closing ---- */

/* [lock held] Begin the next generation, which is not drained, and take the waiters of the
 * previous one. */
static void begin_generation(fi_fd *f, fi_wake_list *list)
{
    count_both_edges(f, list);
    f->generation++;
    f->armed = 0;
    f->opened_by_us = f->short_read_drains = f->hup_or_urgent = f->not_socket = f->closing = false;
    f->is_file = f->is_direct = false;
}

/* If the program closed the previous file by close(2), that file's state is still here. */
void fi_fd_open(fi_io *io, fi_fd *f, fi_fd_kind kind)
{
    fi_wake_list list = {0};
    bool was_armed;

    fi_fd_lock(f);
    was_armed = f->armed != 0;
    begin_generation(f, &list);
    f->opened_by_us = !kind.is_file;
    f->short_read_drains = kind.short_read_drains;
    f->not_socket = kind.not_socket;
    f->is_file = kind.is_file;
    f->is_direct = kind.is_direct;
    fi_fd_unlock(f);
    if (was_armed)
        fi_idle_remove_interest(&io->runtime->idle);
    fi_wake_list_wake(list);
}

/* A guarded system call does not block, so each ends as soon as its thread runs. */
static void wait_for_guards(fi_io *io, const fi_fd *f)
{
    fi_runtime *rt = io->runtime;

    for (unsigned i = 0; i < rt->n_workers; i++)
        while (fi_syscall_guard_protects(&rt->workers[i].syscall_guard, f))
            fi_wait_yield();
}

static void wait_for_offloaded(fi_fd *f)
{
    fi_waiter w = {.uncancellable = true};

    fi_fd_lock(f);
    if (f->n_offloaded > 0)
        fi_waitq_wait(&w, &f->closers, &f->lock, (fi_wait_reason){"close", f}, FI_TIMER_NEVER);
    else
        fi_fd_unlock(f);
}

uint32_t fi_fd_begin_close(fi_io *io, fi_fd *f, int fd)
{
    uint32_t generation;
    fi_wake_list list = {0};
    bool was_armed;

    fi_fd_lock(f);
    was_armed = f->armed != 0;
    begin_generation(f, &list);
    f->closing = true;
    generation = f->generation;
    fi_fd_unlock(f);
    fi_wake_list_wake(list);
    wait_for_guards(io, f);
    if (was_armed) {
        /* If the descriptor was duplicated, close(2) would leave it armed, and no number would be
         * left to disarm it by.  A guarded call may just have armed it. */
        fi_epoll_disarm(&io->epoll, fd);
        fi_idle_remove_interest(&io->runtime->idle);
    }
    wait_for_offloaded(f);
    return generation;
}

/* After close(2) the number may already belong to a new file. */
void fi_fd_end_close(fi_fd *f, uint32_t generation)
{
    fi_fd_lock(f);
    if (f->generation == generation)
        f->closing = false;
    fi_fd_unlock(f);
}
