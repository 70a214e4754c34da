#include "run/run.h"

#include "report.h"
#include "run/comm.h"

#include <errno.h>
#include <filch/cluster.h>
#include <unistd.h>

/* FNV-1a over the bytes of the numbers. */
uint32_t fi_call_hash(unsigned call, const uint64_t *sizes, unsigned n)
{
    uint32_t hash = 2166136261u ^ call;

    for (unsigned i = 0; i < n; i++)
        for (unsigned shift = 0; shift < 64; shift += 8)
            hash = (hash ^ (uint32_t)(sizes[i] >> shift & 0xff)) * 16777619u;
    hash = hash * 16777619u;
    return hash != 0 ? hash : 1;
}

int fi_run_null(const char *function, const char *argument, const char *wanted)
{
    fi_report(FILCH_LEVEL_ERROR, "%s: %s is NULL; pass %s", function, argument, wanted);
    return -EINVAL;
}

static int acc_check(const char *function, const fi_work *work)
{
    if (work->acc_size == 0)
        return 0;
    if (!work->acc)
        return fi_run_null(function, "acc", "a place for the result");
    if (!work->combine)
        return fi_run_null(function, "combine", "a function");
    if (work->acc_size <= FILCH_CLUSTER_ACC_MAX)
        return 0;
    fi_report(FILCH_LEVEL_ERROR, "%s: the accumulator is too large (%zu bytes); use at most %d",
              function, work->acc_size, FILCH_CLUSTER_ACC_MAX);
    return -EINVAL;
}

static int run_refuse(const char *function, int e)
{
    if (e == -EBUSY)
        fi_report(
            FILCH_LEVEL_ERROR,
            "%s: another run of this process is in progress; make one run at a time, and none "
            "from work of a run",
            function);
    else
        fi_report(FILCH_LEVEL_ERROR,
                  "%s: the cluster has not been started in this process; call filch_cluster_start",
                  function);
    return e;
}

int fi_run(const char *function, uint32_t call, const fi_work *work, void *bag, int error)
{
    fi_lanes *l = &fi_comm_own.lanes;
    int e = acc_check(function, work);

    if (e == 0) {
        e = fi_cluster_claim();
        if (e < 0)
            run_refuse(function, e);
    }
    if (e < 0) {
        if (bag)
            work->ops->drop(bag, work->ctx);
        return e;
    }
    fi_lanes_begin(l, work, bag, error);
    e = fi_comm_run(call);
    fi_lanes_end(l);
    fi_cluster_release();
    return e;
}
