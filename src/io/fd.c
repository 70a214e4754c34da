/* One descriptor: who waits for it, and what they are told. */
#include "io/io.h"
#include "io/syscall_guard.h"

#include <errno.h>

/* By its word: who tells of an edge and who waits are mostly different workers. */
static void hold(fi_fd *f)
{
    fi_hold_also(&f->lock);
}

static void let_go(fi_fd *f)
{
    fi_let_go(&f->lock);
}

/* ---- telling ---- */

/* [latch held] All of a line, before those that were taken out already. */
static fi_wait *take_all(fi_line *line, fi_wait *list, int result)
{
    fi_wait *w;

    while ((w = fi_line_take(line)) != NULL) {
        w->result = result;
        w->next = list;
        list = w;
    }
    return list;
}

static void wake_all(fi_wait *list)
{
    while (list) {
        fi_wait *w = list;
        list = w->next;
        fi_wait_end(w);
    }
}

static fi_wait *add_edge(fi_fd *f, int direction, fi_wait *list)
{
    f->edges[direction]++;
    return take_all(&f->waiters[direction], list, 0);
}

void fi_fd_notify(fi_fd *f, const fi_io_event *ev)
{
    fi_wait *list = NULL;

    hold(f);
    if (f->generation == ev->generation) {
        f->hup_or_urgent |= ev->hup_or_urgent;
        if (ev->readable)
            list = add_edge(f, FI_IO_READ, list);
        if (ev->writable)
            list = add_edge(f, FI_IO_WRITE, list);
    }
    let_go(f);
    wake_all(list);
}

/* ---- waiting ---- */

static fi_fd_state view(fi_fd *f, int direction)
{
    fi_fd_state v = {
        .edges = f->edges[direction], .generation = f->generation, .opened_by_us = f->opened_by_us};

    v.drained = direction == FI_IO_READ && f->opened_by_us && f->short_read_drains &&
                !f->hup_or_urgent && fi_load_relaxed(&f->drained_at) == v.edges;
    v.pollable = f->armed != 0;
    v.closing = f->closing;
    v.not_socket = f->opened_by_us && f->not_socket;
    return v;
}

fi_fd_state fi_fd_snapshot(fi_fd *f, int direction)
{
    fi_fd_state v;

    hold(f);
    v = view(f, direction);
    let_go(f);
    return v;
}

bool fi_fd_enter(fi_fd *f, int direction, bool even_drained, fi_worker *w, fi_fd_state *v)
{
    bool enters;

    hold(f);
    *v = view(f, direction);
    enters = !f->closing && (even_drained || !v->drained);
    if (enters)
        fi_syscall_guard_enter(&w->syscall_guard, f);
    let_go(f);
    return enters;
}

void fi_fd_leave(fi_worker *w)
{
    fi_syscall_guard_leave(&w->syscall_guard);
}

bool fi_fd_begin_offload(fi_fd *f, uint32_t generation)
{
    bool is;

    hold(f);
    is = f->generation == generation;
    f->n_offloaded += is;
    let_go(f);
    return is;
}

static fi_wait *take_closers(fi_fd *f)
{
    return f->n_offloaded > 0 ? NULL : take_all(&f->closers, NULL, 0);
}

void fi_fd_end_offload(fi_fd *f)
{
    fi_wait *closers;

    hold(f);
    f->n_offloaded--;
    closers = take_closers(f);
    let_go(f);
    wake_all(closers);
}

/* Who looked in the midst of a close is not armed, and must not stand in line even if the close is over by now. */
static bool is_other(const fi_fd *f, const fi_fd_state *v)
{
    return f->closing || v->closing || f->generation != v->generation;
}

/* It is to be armed for these edges as well.  Those that it is armed for, 0: another file.  Else the number stays until the
 * worker leaves it. */
static unsigned add_armed(fi_io *io, fi_fd *f, const fi_fd_state *v, unsigned edges, bool *known)
{
    unsigned all = 0;

    hold(f);
    *known = f->armed != 0;
    if (!is_other(f, v)) {
        all = f->armed |= (uint8_t)edges;
        fi_syscall_guard_enter(&fi_worker_self()->syscall_guard, f);
    }
    let_go(f);
    if (all && !*known)
        fi_idle_add_interest(&io->runtime->idle); /* once for each number */
    return all;
}

static bool is_armed_for(fi_fd *f, const fi_fd_state *v, unsigned edges)
{
    bool is;

    hold(f);
    is = is_other(f, v) || (f->armed & edges) == edges;
    let_go(f);
    return is;
}

/* Others may stand in line already, as it seemed to be armed: they are to find out as we did. */
static int fail_to_arm(fi_io *io, fi_fd *f, const fi_fd_state *v, int e)
{
    fi_wait *list = NULL;
    bool was = false;

    hold(f);
    if (!is_other(f, v)) {
        was = f->armed != 0;
        f->armed = 0;
        list = take_all(&f->waiters[FI_IO_READ], NULL, 0);
        list = take_all(&f->waiters[FI_IO_WRITE], list, 0);
    }
    let_go(f);
    if (was)
        fi_idle_remove_interest(&io->runtime->idle);
    wake_all(list);
    return e;
}

/* Not under the latch: it is a system call.  So of two the one with fewer edges may come last, and looks again. */
static int arm(fi_io *io, fi_fd *f, const fi_fd_state *v, int fd, unsigned edges)
{
    unsigned all = 0;
    bool known;
    int e = 0;

    if (v->opened_by_us && is_armed_for(f, v, edges))
        return 0;
    while (e == 0 && (edges = add_armed(io, f, v, edges, &known)) != all && edges != 0) {
        e = fi_epoll_arm(&io->epoll, fd, v->generation, edges, known);
        all = edges;
    }
    fi_fd_leave(fi_worker_self());
    return e < 0 ? fail_to_arm(io, f, v, e) : 0;
}

/* [latch held] May it not stand in line?  A number that is being closed is told from one that was: only after that can
 * the next call say what it is now. */
static bool is_turned_away(const fi_fd *f, const fi_fd_state *v, int direction, int *e)
{
    *e = f->generation != v->generation ? -ECANCELED : 0;
    return is_other(f, v) || f->edges[direction] != v->edges;
}

static int turn_away(fi_fd *f, int e)
{
    bool closing = f->closing;

    let_go(f);
    if (closing)
        fi_wait_yield();
    return e;
}

int fi_fd_await(fi_io *io, fi_fd *f, const fi_fd_state *v, const fi_fd_wait *w)
{
    fi_wait wait = {0};
    int e = arm(io, f, v, w->fd, 1u << w->direction);

    if (e < 0)
        return e;
    fi_wait_chaos();
    hold(f);
    if (is_turned_away(f, v, w->direction, &e))
        return turn_away(f, e);
    return fi_wait_in(&wait, &f->waiters[w->direction], &f->lock,
                      (fi_wait_for){w->what, (const void *)(intptr_t)w->fd}, w->deadline);
}

static void let_go_of(void *f)
{
    let_go(f);
}

/* In each of the two lines a part of the wait. */
int fi_fd_await_both(fi_io *io, fi_fd *f, const fi_fd_state v[2], const fi_fd_wait *w)
{
    fi_wait whole = {0}, part[2] = {{0}, {0}};
    fi_biased_lock own = {0};
    int e = arm(io, f, &v[FI_IO_READ], w->fd, 1u << FI_IO_READ | 1u << FI_IO_WRITE);

    if (e < 0)
        return e;
    hold(f);
    for (int i = 0; i < 2; i++)
        if (is_turned_away(f, &v[i], i, &e))
            return turn_away(f, e);
    for (int i = 0; i < 2; i++) {
        part[i].whole = &whole;
        part[i].part = (uint32_t)i + 1;
        fi_line_add(&f->waiters[i], &f->lock, &part[i]);
    }
    e = fi_wait_in_parts(&whole, &own, (fi_wait_for){w->what, (const void *)(intptr_t)w->fd},
                         let_go_of, f, w->deadline);
    hold(f);
    for (int i = 0; i < 2; i++)
        if (part[i].line)
            fi_line_remove(&part[i]);
    if (e > 0)
        e = is_other(f, &v[0]) ? -ECANCELED : 0;
    let_go(f);
    return e;
}

/* ---- what was learned ---- */

/* Relaxed: with another number of edges it says nothing. */
void fi_fd_set_drained(fi_fd *f, const fi_fd_state *v)
{
    fi_store_relaxed(&f->drained_at, v->edges);
}

void fi_fd_set_not_socket(fi_fd *f, const fi_fd_state *v)
{
    hold(f);
    if (!is_other(f, v))
        f->not_socket = true;
    let_go(f);
}

/* ---- opening and closing ---- */

/* [latch held] Another file, of which nothing is known.  All that stood in line goes out. */
static fi_wait *begin_anew(fi_fd *f)
{
    fi_wait *list = take_all(&f->waiters[FI_IO_READ], NULL, -ECANCELED);

    list = take_all(&f->waiters[FI_IO_WRITE], list, -ECANCELED);
    f->generation++;
    f->edges[FI_IO_READ]++; /* what was drained is not any more */
    f->armed = 0;
    f->opened_by_us = f->short_read_drains = f->hup_or_urgent = f->not_socket = f->closing = false;
    return list;
}

/* Of what was under way before it was another file. */
static void await_offloaded(fi_fd *f)
{
    fi_wait w = {.stubborn = true};

    hold(f);
    if (f->n_offloaded > 0)
        fi_wait_in(&w, &f->closers, &f->lock, (fi_wait_for){"close", f}, FI_TIMER_NEVER);
    else
        let_go(f);
}

/* Each is over as soon as its thread runs. */
static void await_calls(fi_io *io, const fi_fd *f)
{
    fi_runtime *rt = io->runtime;

    for (unsigned i = 0; i < rt->n_workers; i++)
        while (fi_syscall_guard_protects(&rt->workers[i].syscall_guard, f))
            fi_wait_yield();
}

/* Who has closed it with close(2) may have left something here. */
void fi_fd_open(fi_io *io, fi_fd *f, fi_fd_kind kind)
{
    fi_wait *list;
    bool armed;

    hold(f);
    armed = f->armed != 0;
    list = begin_anew(f);
    f->opened_by_us = true;
    f->short_read_drains = kind.short_read_drains;
    f->not_socket = kind.not_socket;
    let_go(f);
    if (armed)
        fi_idle_remove_interest(&io->runtime->idle);
    wake_all(list);
}

uint32_t fi_fd_begin_close(fi_io *io, fi_fd *f, int fd)
{
    uint32_t generation;
    fi_wait *list;
    bool armed;

    hold(f);
    armed = f->armed != 0;
    list = begin_anew(f);
    f->closing = true;
    generation = f->generation;
    let_go(f);
    if (armed) {
        /* A copy of the descriptor would keep it armed, without a number to disarm it by. */
        fi_epoll_disarm(&io->epoll, fd);
        fi_idle_remove_interest(&io->runtime->idle);
    }
    wake_all(list);
    await_calls(io, f);
    await_offloaded(f);
    return generation;
}

/* Unless the number is a new file's already. */
void fi_fd_end_close(fi_fd *f, uint32_t generation)
{
    hold(f);
    if (f->generation == generation)
        f->closing = false;
    let_go(f);
}
