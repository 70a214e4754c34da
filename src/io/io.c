#include "io/io.h"

#include "base/clock.h"
#include "base/mem.h"

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
    for (int i = 0; i < n; i++)
        fi_fd_table_dispatch(&io->fd_table, &events[i]);
    return n;
}

static void io_interrupt(fi_poller *p)
{
    fi_epoll_interrupt(&io_of_poller(p)->epoll);
}

static void io_free(fi_poller *p)
{
    fi_io *io = io_of_poller(p);

    fi_blocking_pool_fini(&io->blocking_pool);
    fi_fd_table_fini(&io->fd_table);
    fi_epoll_fini(&io->epoll);
    FI_DELETE(fi_io, io);
}

static int io_use_epoll(fi_io *io)
{
    int e = fi_epoll_init(&io->epoll);

    io->poller.name = "epoll";
    io->poller.poll = io_poll;
    io->poller.interrupt = io_interrupt;
    io->poller.fd = io->epoll.fd;
    return e;
}

static int io_new(fi_runtime *rt, fi_io **out)
{
    fi_io *io = FI_NEW(fi_io);
    int e;

    if (!io)
        return -ENOMEM;
    io->poller.free = io_free;
    io->runtime = rt;
    fi_blocking_pool_init(&io->blocking_pool, rt);
    e = io_use_epoll(io);
    if (e < 0) {
        FI_DELETE(fi_io, io);
        return e;
    }
    *out = io;
    return 0;
}

int fi_io_get(fi_runtime *rt, fi_io **out)
{
    fi_io *made;
    int e;

    *out = fi_io_find(rt);
    if (*out)
        return 0;
    e = io_new(rt, &made);
    if (e < 0)
        return e;
    *out = io_of_poller(fi_poller_set(rt, &made->poller));
    if (*out != made)
        io_free(&made->poller);
    return 0;
}

fi_io *fi_io_find(fi_runtime *rt)
{
    return io_of_poller(fi_poller_get(rt));
}

fi_runtime *fi_io_fiber_runtime(void)
{
    const fi_worker *w = fi_worker_self();

    return w && !w->runtime->in_fork_child ? w->runtime : NULL;
}
