/* What all fibers do, on request. */
#include <filch/debug.h>

#include "debug/dump.h"
#include "sched/runtime.h"

#include <errno.h>

int filch_dump(int fd)
{
    fi_runtime *rt = fi_runtime_lock_running();
    int e = rt ? fi_dump(rt, fd) : -ESRCH;

    fi_runtime_unlock_running();
    return e;
}
