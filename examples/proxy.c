/* proxy: a TCP proxy with two fibers per connection.  It shows how to forward data, the end of a
 * stream and failures in both directions. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* getopt, shutdown */
#endif
#include "server.h"

#include <filch/filch.h>

#include <errno.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

static const char usage[] =
    "usage: proxy [-t SECONDS] LISTENPORT HOST PORT\n"
    "  -t SECONDS  timeout of a connection to HOST and of the stop (10)\n"
    "Forwards connections from 127.0.0.1:LISTENPORT (0: any free port) to HOST:PORT.  SIGINT or\n"
    "SIGTERM stops the proxy; it then prints the number of connections and bytes.\n";

#define BUFFER_SIZE (16 << 10)
#define STACK_SIZE  (64 << 10)

/* One direction of a connection. */
typedef struct flow {
    int from, to;
    int64_t deadline;    /* of a write; FILCH_FOREVER before the stop */
    atomic_bool *failed; /* shared by both directions */
    atomic_ulong *bytes;
} flow;

static const char *host;
static int port;
static int64_t timeout = FILCH_S(10);
static atomic_ulong connections, failures, up, down;

/* ---- end of a connection ---- */

/* At the stop.  Data that has arrived can still be read, and is forwarded.  Then the connection is
 * reset, because a stream that was cut off must not look complete. */
static void begin_stop(flow *f)
{
    f->deadline = server_stop_by();
    shutdown(f->from, SHUT_RD);
    shutdown(f->to, SHUT_RD);
}

/* Reset the connection at close.  A failure on one side must be a failure on the other side too,
 * not a regular end. */
static void reset_when_closed(int fd)
{
    struct linger none = {.l_onoff = 1, .l_linger = 0};

    setsockopt(fd, SOL_SOCKET, SO_LINGER, &none, sizeof none);
}

/* Has the peer itself ended the stream?  A read also returns 0 after our own shutdown(SHUT_RD). */
static bool has_ended(int fd)
{
    struct tcp_info info = {0};
    socklen_t size = sizeof info;

    if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) < 0)
        return false;
    return info.tcpi_state != TCP_ESTABLISHED && info.tcpi_state != TCP_FIN_WAIT1 &&
           info.tcpi_state != TCP_FIN_WAIT2;
}

/* A reset discards data that was not delivered yet. */
static void wait_delivered(int fd)
{
    int left = 0;

    while (ioctl(fd, SIOCOUTQ, &left) == 0 && left > 0 && filch_now() < server_stop_by())
        (void)server_stop_interrupted(filch_sleep(FILCH_MS(1)));
}

/* The shutdown wakes the fiber of the other direction. */
static void fail_both(const flow *f)
{
    atomic_store(f->failed, true);
    reset_when_closed(f->from);
    reset_when_closed(f->to);
    shutdown(f->from, SHUT_RD);
    shutdown(f->to, SHUT_RD);
}

/* Was the wait interrupted by the stop?  Only one of the two fibers gets the cancellation. */
static bool stop_interrupted(flow *f, ssize_t n)
{
    if (!server_stop_interrupted(n))
        return false;
    begin_stop(f);
    return true;
}

/* ---- bytes ---- */

static ssize_t write_some(flow *f, const char *buf, size_t n)
{
    ssize_t done;

    do
        done = filch_write_until(f->to, buf, n, f->deadline);
    while (stop_interrupted(f, done));
    return done;
}

static ssize_t write_all(flow *f, const char *buf, size_t n)
{
    for (size_t done = 0; done < n;) {
        ssize_t m = write_some(f, buf + done, n - done);
        if (m < 0)
            return m;
        done += (size_t)m;
        atomic_fetch_add_explicit(f->bytes, (unsigned long)m, memory_order_relaxed);
    }
    return (ssize_t)n;
}

/* Forward data until the end of the stream, then forward the end.  The other direction
 * continues. */
static void *forward(void *arg)
{
    flow *f = arg;
    char buf[BUFFER_SIZE];
    ssize_t n;

    do {
        n = filch_read(f->from, buf, sizeof buf);
        if (n > 0)
            n = write_all(f, buf, (size_t)n);
    } while (n > 0 || stop_interrupted(f, n));
    if (n == 0 && !atomic_load(f->failed) && has_ended(f->from))
        shutdown(f->to, SHUT_WR);
    else
        fail_both(f);
    return NULL;
}

/* ---- connections ---- */

/* During the stop, the fiber has until the deadline to forward its data. */
static void join(filch_fiber *fiber, flow *f)
{
    int e;

    while ((e = filch_fiber_join_until(fiber, NULL, f->deadline)) < 0)
        if (!stop_interrupted(f, e)) {
            shutdown(f->from, SHUT_RDWR);
            f->deadline = FILCH_FOREVER;
        }
}

static void forward_both(int client, int upstream)
{
    static const filch_fiber_attr attr = {.name = "down", .stack_size = STACK_SIZE};
    atomic_bool failed = false;
    flow upstream_flow = {client, upstream, FILCH_FOREVER, &failed, &up};
    flow downstream_flow = {upstream, client, FILCH_FOREVER, &failed, &down};
    filch_fiber *other = filch_fiber_start_attr(&attr, forward, &downstream_flow);

    if (!other)
        return;
    if (server_is_stopping())
        begin_stop(&upstream_flow);
    forward(&upstream_flow);
    join(other, &upstream_flow);
    if (server_is_stopping()) {
        wait_delivered(client);
        wait_delivered(upstream);
    }
}

static void serve(int fd)
{
    int64_t deadline = filch_now() + timeout;
    int upstream;

    do
        upstream = filch_connect_until(host, port, deadline);
    while (server_stop_interrupted(upstream));
    atomic_fetch_add_explicit(&connections, 1, memory_order_relaxed);
    if (upstream < 0) {
        atomic_fetch_add_explicit(&failures, 1, memory_order_relaxed);
        reset_when_closed(fd);
        return;
    }
    forward_both(fd, upstream);
    filch_close(upstream);
}

int main(int argc, char **argv)
{
    server s = {.name = "proxy", .stack_size = STACK_SIZE, .serve = serve};

    for (int option; (option = getopt(argc, argv, "ht:")) != -1;) {
        if (option == 'h')
            return fputs(usage, stdout) < 0;
        if (option == '?')
            return 2;
        timeout = (int64_t)(server_number("proxy", "number of seconds", optarg, 0.001, 1e6) * 1e9);
    }
    if (argc - optind != 3) {
        fprintf(stderr, "proxy: expected LISTENPORT, HOST and PORT; see proxy -h\n");
        return 2;
    }
    s.port = (int)server_number("proxy", "port", argv[optind], 0, 65535);
    host = argv[optind + 1];
    port = (int)server_number("proxy", "port", argv[optind + 2], 1, 65535);
    s.grace = timeout;
    server_run(&s);
    printf("%lu connections, %lu failed, %lu bytes up, %lu bytes down\n", connections, failures, up,
           down);
    return 0;
}
