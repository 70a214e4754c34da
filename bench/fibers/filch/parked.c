/* Many fibers that all wait at one channel, until it is closed: how much memory each takes, what it costs to bring one
 * there, and to wake it and let it end. */
#include "cases.h"

#include <errno.h>
#include <filch/chan.h>
#include <filch/fiber.h>
#include <filch/sync.h>
#include <unistd.h>

typedef struct hall {
    filch_chan *gate;
    filch_wait_group coming, leaving;
} hall;

static void wait_at_gate(void *arg)
{
    hall *h = arg;
    filch_wait_group_done(&h->coming);
    filch_chan_recv(h->gate, NULL);
    filch_wait_group_done(&h->leaving);
}

/* Bytes of memory that this process has in use. */
static double in_use(void)
{
    long pages = 0;
    FILE *f = fopen("/proc/self/statm", "re");
    if (!f || fscanf(f, "%*d %ld", &pages) != 1)
        must(-EIO);
    fclose(f);
    return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

static void fill(hall *h, long n)
{
    filch_wait_group_add(&h->coming, (unsigned)n);
    filch_wait_group_add(&h->leaving, (unsigned)n);
    for (long i = 0; i < n; i++)
        must(filch_go(wait_at_gate, h));
    must(filch_wait_group_wait(&h->coming));
}

stopwatch parked(long n, int64_t *answer)
{
    hall h = {.gate = filch_chan_new(0, 0)};
    must(h.gate ? 0 : -ENOMEM);
    double before = in_use(), fibers = (double)n;
    stopwatch w = stopwatch_start();
    fill(&h, n);
    double create = stopwatch_read(w).cpu;
    metrics_add("bytes", (in_use() - before) / fibers);
    stopwatch wake = stopwatch_start();
    must(filch_chan_close(h.gate));
    must(filch_wait_group_wait(&h.leaving));
    metrics_add("create_ns", create / fibers);
    metrics_add("wake_ns", stopwatch_read(wake).cpu / fibers);
    filch_chan_free(h.gate);
    *answer = n;
    return stopwatch_read(w);
}
