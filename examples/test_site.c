/* Serve the pages of the test site. */
#include "test_site.h"

#include "http_parser.h"

#include <filch/filch.h>

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define WORK    FILCH_MS(1) /* simulated work per page */
#define TIMEOUT FILCH_S(10)

static unsigned pages;
static atomic_bool *requested; /* by page */
static atomic_uint n_active, n_active_max;
static int listener;
static filch_fiber *acceptor;
static filch_wait_group served;

/* ---- pages ---- */

static int write_page(char *to, size_t size, unsigned i)
{
    char body[512];
    int n = snprintf(body, sizeof body,
                     "<p>This is page %u.</p> <a href=\"/%u\">left</a> <a href=\"/%u\">right</a> "
                     "<a href=\"/%u\">up</a> <a href=\"/0\">home</a> <a href=\"http://elsewhere/\">"
                     "far</a> <a href=\"/lost\n",
                     i, (2 * i + 1) % pages, (2 * i + 2) % pages, i / 2);

    return snprintf(to, size, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", n, body);
}

static int write_error(char *to, size_t size, const char *status)
{
    return snprintf(to, size, "HTTP/1.1 %s\r\nContent-Length: 0\r\n\r\n", status);
}

/* A flaky page is cut off in the middle the first time; a broken page returns an error. */
static int write_response(char *to, size_t size, const char *path)
{
    char *end;
    unsigned long i = strtoul(path + 1, &end, 10);
    bool was_requested;

    if (i >= pages || *end != ' ')
        return write_error(to, size, "404 Not Found");
    was_requested = atomic_exchange(&requested[i], true);
    if (i % SITE_BROKEN == SITE_BROKEN - 1)
        return write_error(to, size, "503 Service Unavailable");
    return write_page(to, size, (unsigned)i) /
           (i % SITE_FLAKY == SITE_FLAKY - 1 && !was_requested ? 2 : 1);
}

/* ---- connections ---- */

static void count_active(void)
{
    unsigned n = atomic_fetch_add(&n_active, 1) + 1, seen = atomic_load(&n_active_max);

    while (seen < n && !atomic_compare_exchange_weak(&n_active_max, &seen, n))
        continue;
}

static int read_head(int fd, http_parser *p, char *in, size_t size)
{
    int64_t deadline = filch_now() + TIMEOUT;
    int head = 0;

    for (size_t n = 0; head == 0 && n < size;) {
        ssize_t got = filch_read_until(fd, in + n, size - n, deadline);
        if (got <= 0)
            return -EPIPE;
        n += (size_t)got;
        head = http_parse(p, in, n);
    }
    return head;
}

static void serve(void *arg)
{
    int fd = (int)(intptr_t)arg;
    char in[1024], out[1024];
    http_parser p = {0};

    count_active();
    if (read_head(fd, &p, in, sizeof in) > 0) {
        filch_sleep(WORK);
        filch_write_all(fd, out, (size_t)write_response(out, sizeof out, in + p.path));
    }
    atomic_fetch_sub(&n_active, 1); /* before the client sees the end of the response */
    filch_close(fd);
    filch_wait_group_done(&served);
}

static void *accept_all(void *arg)
{
    int fd;

    while ((fd = filch_accept(listener)) != -ECANCELED) {
        filch_wait_group_add(&served, 1);
        if (fd >= 0 && filch_go(serve, (void *)(intptr_t)fd) == 0)
            continue;
        if (fd >= 0)
            filch_close(fd);
        filch_wait_group_done(&served);
    }
    return arg;
}

int test_site_start(unsigned n)
{
    pages = n;
    listener = filch_listen("127.0.0.1", 0, 1024);
    if (listener < 0)
        return listener;
    requested = calloc(n, sizeof *requested);
    acceptor = requested ? filch_fiber_start(accept_all, NULL) : NULL;
    if (acceptor)
        return filch_local_port(listener);
    free(requested);
    filch_close(listener);
    return -ENOMEM;
}

unsigned test_site_stop(void)
{
    filch_close(listener);
    filch_fiber_join(acceptor, NULL);
    filch_wait_group_wait(&served);
    free(requested);
    return n_active_max;
}
