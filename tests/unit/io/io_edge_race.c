/* A descriptor becomes ready after a fiber has found it not ready, and before the fiber waits.
 * epoll reports that edge once, so the fiber must not begin to wait. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* ppoll, syscall */
#endif
#include "unit/io/helpers.h"

#include <poll.h>
#include <sys/syscall.h>

/* ---- a version of poll(2) in which the descriptor becomes ready too late for the result ---- */

static struct {
    fi_fd *state; /* of fd */
    int fd, peer; /* a pair of sockets; only a poll of fd is changed */
    int direction;
    atomic_bool pending; /* the next poll that finds nothing is changed */
} race;

static uint32_t edges(void)
{
    uint32_t n;

    fi_fd_lock(race.state);
    n = race.state->edges[race.direction];
    fi_fd_unlock(race.state);
    return n;
}

/* Make fd ready, and return after another worker has counted the edge. */
static void await_edge(void)
{
    char page[4096] = {0};
    uint32_t before = edges();

    if (race.direction == FI_IO_READ)
        CHECK_INT(write(race.peer, page, 1), 1);
    else
        while (read(race.peer, page, sizeof page) > 0)
            ;
    while (edges() == before)
        sched_yield();
}

int poll(struct pollfd *p, nfds_t n, int timeout)
{
    struct timespec t = {timeout / 1000, timeout % 1000 * 1000000L};
    int ready = (int)syscall(SYS_ppoll, p, n, timeout < 0 ? NULL : &t, NULL, 0);

    if (ready == 0 && p->fd == race.fd && atomic_exchange(&race.pending, false))
        await_edge();
    return ready;
}

/* ---- tests ---- */

static void *wait_for_both(void *ns)
{
    return (void *)(intptr_t)filch_wait_fd_until(race.fd, FILCH_READABLE | FILCH_WRITABLE,
                                                 filch_now() + (intptr_t)ns);
}

static void become_ready(int direction, intptr_t result)
{
    char page[4096] = {0};
    int fd[2];

    if (filch_worker_count() < 2) /* the fiber occupies the only one, and no worker polls */
        return;
    CHECK_INT(filch_socketpair(fd), 0);
    race.fd = fd[0];
    race.peer = fd[1];
    race.direction = direction;
    race.state = fd_state(fd[0]);
    while (write(fd[0], page, sizeof page) > 0)
        ;
    CHECK_INT((intptr_t)on_fiber(wait_for_both, (void *)1), -ETIMEDOUT); /* arms the descriptor */
    atomic_store(&race.pending, true);
    CHECK_INT((intptr_t)on_fiber(wait_for_both, (void *)FILCH_S(100)), result);
    CHECK(!atomic_load(&race.pending));
    CHECK_INT(filch_close(fd[0]), 0);
    CHECK_INT(filch_close(fd[1]), 0);
}

static void readable_before_wait(void)
{
    become_ready(FI_IO_READ, FILCH_READABLE);
}

static void writable_before_wait(void)
{
    become_ready(FI_IO_WRITE, FILCH_WRITABLE);
}

WITH_WORKERS(readable_before_wait)
WITH_WORKERS(writable_before_wait)

CHECK_MAIN(test_readable_before_wait, test_writable_before_wait)
