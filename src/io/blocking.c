/* Calls that would block a worker. */
#include "io/room.h"
#include "sched/wait.h"

#include <filch/io.h>

int64_t filch_run_blocking(int64_t (*call)(void *arg), void *arg)
{
    fi_wait_chaos();
    fi_runtime *rt = fi_io_fiber();
    int64_t result = 0;
    fi_io *io;
    int e;

    if (!rt)
        return call(arg);
    e = fi_io_get(rt, &io);
    if (e == 0)
        e = fi_spares_run(&io->spares, call, arg, &result);
    return e < 0 ? e : result;
}
