#include "io/io.h"

#include "base/clock.h"
#include "base/mem.h"
#include "io/ring.h"

#include <errno.h>

static fi_io *io_of_poller(fi_poller *p)
{
    return (fi_io *)(void *)p;
}

static bool deadline_passed(int64_t deadline_ns)
{
    return deadline_ns != FI_POLL_NOW && deadline_ns != FI_TIMER_NEVER &&
           fi_clock_now() >= deadline_ns;
}

static int io_poll(fi_poller *p, int64_t deadline_ns, void (*awake)(void *arg), void *arg)
{
    fi_io *io = io_of_poller(p);
    fi_io_event events[FI_IO_EVENTS];
    int n = fi_epoll_wait(&io->epoll, events, deadline_ns);

    if (n == 0)
        return deadline_passed(deadline_ns) ? -ETIMEDOUT : 0;
    if (awake)
        awake(arg);
    for (int i = 0; i < n; i++) {
        fi_fd *f = fi_fd_table_find(&io->fd_table, events[i].fd);
        if (events[i].fd == FI_IO_RING)
            fi_ring_reap(io);
        else if (f)
            fi_fd_notify(f, &events[i]);
    }
    return n;
}

static void io_interrupt(fi_poller *p)
{
    fi_epoll_interrupt(&io_of_poller(p)->epoll);
}

static void io_free(fi_poller *p)
{
    fi_io *io = io_of_poller(p);

    fi_ring *ring = fi_init_get(&io->ring);

    if (ring)
        fi_ring_free(ring);
    fi_blocking_pool_fini(&io->blocking_pool);
    fi_fd_table_fini(&io->fd_table);
    fi_epoll_fini(&io->epoll);
    FI_DELETE(fi_io, io);
}

static int io_new(fi_runtime *rt, fi_io **out)
{
    fi_io *io = FI_NEW(fi_io);
    int e;

    if (!io)
        return -ENOMEM;
    e = fi_epoll_init(&io->epoll);
    if (e < 0) {
        FI_DELETE(fi_io, io);
        return e;
    }
    io->poller.name = "epoll";
    io->poller.fd = io->epoll.fd;
    io->poller.poll = io_poll;
    io->poller.interrupt = io_interrupt;
    io->poller.free = io_free;
    io->runtime = rt;
    fi_blocking_pool_init(&io->blocking_pool, rt);
    *out = io;
    return 0;
}

int fi_io_make(fi_runtime *rt, fi_io **out)
{
    fi_io *io;
    int e = io_new(rt, &io);

    if (e < 0)
        return e;
    *out = io_of_poller(fi_poller_set(rt, &io->poller));
    if (*out != io)
        io_free(&io->poller);
    return 0;
}
