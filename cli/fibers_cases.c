/* The tables of `filch bench fibers`: workloads, runtimes, rows and goals. */
#include "fibers_cases.h"

#include <stdio.h>
#include <string.h>

const char fibers_name[] = "fibers";

const workload fibers_workloads[] = {
    {"switch", "switch", NULL, 5, "switch between two contexts, without the scheduler"},
    {"fibers-start-batch", "fibers", "start-batch", 3, "start 1,000 fibers and wait for all"},
    {"fibers-start-one", "fibers", "start-one", 3, "start a fiber and join it"},
    {"fibers-yield-2", "fibers", "yield-2", 3, "2 fibers that only yield"},
    {"fibers-yield-100", "fibers", "yield-100", 3, "100 fibers that only yield"},
    {"fibers-rendezvous", "fibers", "rendezvous", 3, "round trip over 2 unbuffered channels"},
    {"fibers-buffered-1", "fibers", "buffered-1", 3, "a channel of capacity 128, 1 to 1"},
    {"fibers-buffered-4", "fibers", "buffered-4", 3, "a channel of capacity 128, 4 to 4"},
    {"fibers-mutex", "fibers", "mutex", 3, "100 fibers at a mutex, a yield every 100th time"},
    {"fibers-skynet", "fibers", "skynet", 1, "a tree of 1,111,111 fibers, sums over channels"},
    {"fibers-skynet-join", "fibers", "skynet-join", 1, "the same, sums by joins"},
    {"fibers-parked", "fibers", "parked", 1, "1,000,000 fibers that wait at a channel"},
    {"fibers-timers", "fibers", "timers", 1, "10,000 fibers that sleep 10 times, 1 to 20 ms"},
    {"http-64", "http", "64", 1, "short HTTP responses over 64 open connections"},
    {"http-1000", "http", "1000", 1, "the same with 1,000 connections"},
    {0},
};

const fibers_case fibers_cases[] = {
    {"switch", "cpu_ns", "switch, one way", "ns", 1, 3, 0},
    {"fibers-start-batch", "cpu_ns", "start and end, 1,000", "ns", 1, 50, 0},
    {"fibers-start-one", "cpu_ns", "start and join, 1", "ns", 1, 80, 0},
    {"fibers-yield-2", "cpu_ns", "yield, 2 fibers", "ns", 1, 10, 0},
    {"fibers-yield-100", "cpu_ns", "yield, 100 fibers", "ns", 1, 10, 0},
    {"fibers-rendezvous", "cpu_ns", "rendezvous, both ways", "ns", 1, 45, 60},
    {"fibers-buffered-1", "cpu_ns", "buffered item, 1:1", "ns", 1, 7, 0},
    {"fibers-buffered-4", "cpu_ns", "buffered item, 4:4", "ns", 1, 9, 0},
    {"fibers-mutex", "cpu_ns", "lock and unlock", "ns", 1, 5, 0},
    {"fibers-skynet", "cpu_ns", "skynet, per fiber", "ns", 1, 100, 0},
    {"fibers-skynet", "peak_mb", "skynet, peak memory", "MB", 1, 12, 0},
    {"fibers-skynet-join", "cpu_ns", "skynet by joins", "ns", 1, 100, 0},
    {"fibers-skynet-join", "peak_mb", "  peak memory", "MB", 1, 12, 0},
    {"fibers-parked", "bytes", "parked fiber", "bytes", 0, 4300, 0},
    {"fibers-parked", "create_ns", "  start and park", "ns", 0, 2200, 0},
    {"fibers-parked", "wake_ns", "  wake and end", "ns", 0, 200, 0},
    {"fibers-timers", "cpu_ms", "timers, all", "ms", 1, 110, 0},
    {"fibers-timers", "late_p50_ms", "  late, half of them", "ms", 3, 0.1, 0},
    {"fibers-timers", "late_p99_ms", "  late, 99 of 100", "ms", 3, 1.2, 0},
    {"http-64", "cpu_us", "64 connections", "us", 2, 0, 8.2},
    {"http-1000", "cpu_us", "1,000 connections", "us", 2, 0, 8.7},
    {0},
};

static const contender of_switch[] = {{"filch", NULL, NULL}, {0}};
static const contender of_fibers[] = {{"filch", NULL, NULL}, {"go", NULL, NULL}, {0}};
static const contender of_http[] = {
    {"filch", NULL, NULL},
    {"filch-traced", NULL, NULL},
    {"epoll", NULL, NULL},
    {"go", NULL, NULL},
    {"go-raw", NULL, NULL},
    {"nginx", NULL, NULL},
    {0},
};

const contender *fibers_contenders(const workload *w)
{
    if (strcmp(w->program, "http") == 0)
        return of_http;
    return strcmp(w->program, "fibers") == 0 ? of_fibers : of_switch;
}

/* So the whole table takes less than 8 minutes. */
int fibers_rounds(const workload *w)
{
    if (strcmp(w->name, "fibers-parked") == 0)
        return 2;
    return strcmp(w->program, "http") == 0 ? 3 : 0;
}

/* Without the name of the program if it is that of the table. */
const char *fibers_arg(const workload *w)
{
    return strcmp(w->program, fibers_name) == 0 ? w->input : w->name;
}

const workload *fibers_named(const char *word)
{
    for (const workload *w = fibers_workloads; w->name; w++)
        if (strcmp(fibers_arg(w), word) == 0)
            return w;
    return NULL;
}

void fibers_list(char *out, size_t capacity)
{
    size_t used = 0;
    out[0] = '\0';
    for (const workload *w = fibers_workloads; w->name && used < capacity; w++)
        used += (size_t)snprintf(out + used, capacity - used, "%s%s", used > 0 ? ", " : "",
                                 fibers_arg(w));
}
