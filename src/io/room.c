#include "io/room.h"

#include "base/clock.h"
#include "base/mem.h"

#include <errno.h>

static fi_io *of_poller(fi_poller *p)
{
    return (fi_io *)(void *)p;
}

static bool is_over(int64_t deadline_ns)
{
    return deadline_ns != FI_POLL_NOW && deadline_ns != FI_TIMER_NEVER &&
           fi_clock_now() >= deadline_ns;
}

static int poll_epoll(fi_poller *p, int64_t deadline_ns, void (*awake)(void *arg), void *arg)
{
    fi_io *io = of_poller(p);
    fi_io_event events[FI_IO_EVENTS];
    int n = fi_epoll_wait(&io->epoll, events, deadline_ns);

    if (n == 0)
        return is_over(deadline_ns) ? -ETIMEDOUT : 0;
    if (awake)
        awake(arg);
    for (int i = 0; i < n; i++)
        fi_fds_tell(&io->fds, &events[i]);
    return n;
}

static void interrupt(fi_poller *p)
{
    fi_epoll_interrupt(&of_poller(p)->epoll);
}

static void free_room(fi_poller *p)
{
    fi_io *io = of_poller(p);

    fi_spares_fini(&io->spares);
    fi_fds_fini(&io->fds);
    fi_epoll_fini(&io->epoll);
    FI_DELETE(fi_io, io);
}

static int use_epoll(fi_io *io)
{
    int e = fi_epoll_init(&io->epoll);

    io->poller.name = "epoll";
    io->poller.poll = poll_epoll;
    io->poller.interrupt = interrupt;
    io->poller.fd = io->epoll.fd;
    return e;
}

static int make(fi_runtime *rt, fi_io **out)
{
    fi_io *io = FI_NEW(fi_io);
    int e;

    if (!io)
        return -ENOMEM;
    io->poller.free = free_room;
    io->runtime = rt;
    fi_spares_init(&io->spares, rt);
    e = use_epoll(io);
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

    *out = fi_io_look(rt);
    if (*out)
        return 0;
    e = make(rt, &made);
    if (e < 0)
        return e;
    *out = of_poller(fi_poller_set(rt, &made->poller));
    if (*out != made)
        free_room(&made->poller);
    return 0;
}

fi_io *fi_io_look(fi_runtime *rt)
{
    return of_poller(fi_poller_get(rt));
}

fi_runtime *fi_io_fiber(void)
{
    const fi_worker *w = fi_worker_self();

    return w && !w->runtime->in_fork_child ? w->runtime : NULL;
}
