/* Many fibers wait on one channel until it is closed.  Metrics: memory per fiber, CPU time to start
 * and park one, CPU time to wake and end one. */
#include "cases.h"

#include <errno.h>
#include <filch/chan.h>
#include <filch/fiber.h>
#include <filch/sync.h>
#include <unistd.h>

typedef struct parked_run {
    filch_chan *closed_to_wake;
    filch_wait_group starting, running;
} parked_run;

static void wait_for_close(void *arg)
{
    parked_run *r = arg;
    filch_wait_group_done(&r->starting);
    filch_chan_recv(r->closed_to_wake, NULL);
    filch_wait_group_done(&r->running);
}

/* Resident memory of this process in bytes. */
static double resident_bytes(void)
{
    long pages = 0;
    FILE *f = fopen("/proc/self/statm", "re");
    if (!f || fscanf(f, "%*d %ld", &pages) != 1)
        must(-EIO);
    fclose(f);
    return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

static void start_all(parked_run *r, long n)
{
    filch_wait_group_add(&r->starting, (unsigned)n);
    filch_wait_group_add(&r->running, (unsigned)n);
    for (long i = 0; i < n; i++)
        must(filch_go(wait_for_close, r));
    must(filch_wait_group_wait(&r->starting));
}

stopwatch parked(long n, int64_t *answer)
{
    parked_run r = {.closed_to_wake = filch_chan_new(0, 0)};
    must(r.closed_to_wake ? 0 : -ENOMEM);
    double before = resident_bytes(), fibers = (double)n;
    stopwatch w = stopwatch_start();
    start_all(&r, n);
    double create = stopwatch_read(w).cpu;
    metrics_add("bytes", (resident_bytes() - before) / fibers);
    stopwatch wake = stopwatch_start();
    must(filch_chan_close(r.closed_to_wake));
    must(filch_wait_group_wait(&r.running));
    metrics_add("create_ns", create / fibers);
    metrics_add("wake_ns", stopwatch_read(wake).cpu / fibers);
    filch_chan_free(r.closed_to_wake);
    *answer = n;
    return stopwatch_read(w);
}
