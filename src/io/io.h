/* What the room has for each runtime: made when it is first needed, freed with the runtime. */
#ifndef FI_IO_IO_H
#define FI_IO_IO_H

#include "io/blocking_pool.h"
#include "io/epoll.h"
#include "io/fd_table.h"
#include "sched/worker.h"

typedef struct fi_io {
    fi_poller poller; /* first: how the scheduler knows us */
    fi_runtime *runtime;
    fi_epoll epoll;
    fi_fd_table fd_table;
    fi_blocking_pool blocking_pool;
} fi_io;

/* [any, while the runtime stays] 0, or -errno: there is none, and none can be made. */
int fi_io_get(fi_runtime *rt, fi_io **out);

/* [any, while the runtime stays] NULL: there is none. */
fi_io *fi_io_find(fi_runtime *rt);

/* [any] The runtime of the fiber that we are; NULL: we are none, or one in the child of a fork(), and wait as threads do. */
fi_runtime *fi_io_fiber_runtime(void);

#endif
