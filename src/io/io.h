/* The I/O state of a runtime.  It is made on first use and freed with the runtime. */
#ifndef FI_IO_IO_H
#define FI_IO_IO_H

#include "base/init_flag.h"
#include "io/blocking_pool.h"
#include "io/epoll.h"
#include "io/fd_table.h"
#include "sched/worker.h"

typedef struct fi_ring fi_ring;

typedef struct fi_io {
    fi_poller poller; /* first: the scheduler knows fi_io by it */
    fi_runtime *runtime;
    fi_epoll epoll;
    fi_fd_table fd_table;
    fi_blocking_pool blocking_pool;
    FI_ATOMIC(fi_ring *) ring; /* NULL: not needed yet */
} fi_io;

/* [any, while the runtime stays] Get the state if it was made, else NULL. */
static inline fi_io *fi_io_find(fi_runtime *rt)
{
    return (fi_io *)(void *)fi_init_get(&rt->poller);
}

/* [any, while the runtime stays] Make the state, unless another thread has made it.  Returns 0 or
 * -errno. */
int fi_io_make(fi_runtime *rt, fi_io **out);

/* [any, while the runtime stays] Get the state, and make it if needed.  Returns 0 or -errno. */
static inline int fi_io_get(fi_runtime *rt, fi_io **out)
{
    *out = fi_io_find(rt);
    return *out ? 0 : fi_io_make(rt, out);
}

/* [any] The runtime of the calling fiber.  NULL: the caller waits as a thread does, because it
 * is not a fiber, or is one in the child of a fork(). */
static inline fi_runtime *fi_io_fiber_runtime(void)
{
    const fi_worker *w = fi_worker_self();

    return w && !w->runtime->in_fork_child ? w->runtime : NULL;
}

#endif
