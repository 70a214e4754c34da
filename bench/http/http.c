/* HTTP over loopback with keep-alive connections: CPU time of the server per request, while wrk
 * sends requests as fast as it gets responses.  wrk runs on the same machine and competes for its
 * CPUs, so requests per second are a secondary metric.
 *
 * The CPU time is that of all threads and children of the server, from /proc/PID/stat.  It agrees
 * with schedstat.  It depends on the load: beside other work the same server took less than half
 * per request.  So it only serves to compare servers within one run. */
#include "bench.h"
#include "metrics.h"
#include "process.h"
#include "server.h"

#include <stdlib.h>
#include <string.h>

static const bench_input inputs[] = {
    {"64", "seconds", 1, 3600, 2, 1},
    {"1000", "seconds", 1, 3600, 2, 1},
    {0},
};

/* The result is the number of failed requests. */
static const char *prepare(bench_case *c)
{
    c->expected = 0;
    return NULL;
}

/* Run wrk and return its output in text.  wrk has two threads, as in most published results. */
static void run_wrk(const bench_case *c, char *text, size_t size)
{
    char connections[32], seconds[32], url[64];
    snprintf(connections, sizeof connections, "-c%s", c->input);
    snprintf(seconds, sizeof seconds, "-d%lds", c->size);
    snprintf(url, sizeof url, "http://127.0.0.1:%d/", server_port());
    char *argv[] = {(char *)"wrk", (char *)"-t2", connections, seconds, url, NULL};
    int out;
    pid_t pid = process_start(argv, &out);
    text[0] = '\0';
    if (pid < 0)
        return;
    process_read(out, text, size, '\0');
    if (process_wait(pid) != 0)
        text[0] = '\0';
}

/* Timeouts do not count: wrk reports slow responses as timeouts, although they arrive later. */
static long errors_in(const char *text)
{
    long connects = 0, reads = 0, writes = 0, others = 0;
    const char *line = strstr(text, "Socket errors: ");
    if (line)
        sscanf(line, "Socket errors: connect %ld, read %ld, write %ld", &connects, &reads, &writes);
    line = strstr(text, "Non-2xx or 3xx responses: ");
    if (line)
        sscanf(line, "Non-2xx or 3xx responses: %ld", &others);
    return connects + reads + writes + others;
}

/* "  12345 requests in 2.00s, ..." */
static long requests_in(const char *text)
{
    const char *end = strstr(text, " requests in ");
    const char *begin = end;
    while (begin && begin > text && begin[-1] >= '0' && begin[-1] <= '9')
        begin--;
    return begin ? strtol(begin, NULL, 10) : 0;
}

int64_t bench_run(const bench_case *c)
{
    char text[4096];
    double before = server_cpu();
    stopwatch w = stopwatch_start();
    run_wrk(c, text, sizeof text);
    double cpu = server_cpu() - before, wall = stopwatch_read(w).wall / 1e9;
    long requests = requests_in(text);
    if (requests == 0)
        return -1;
    metrics_add("cpu_us", cpu * 1e6 / (double)requests);
    metrics_add("wall_us", wall * 1e6 / (double)requests);
    metrics_add("requests_s", (double)requests / wall);
    return errors_in(text);
}

const bench_workload bench_the_workload = {
    .name = "http",
    .inputs = inputs,
    .prepare = prepare,
    .has_metrics = true,
};
