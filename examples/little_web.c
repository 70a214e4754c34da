#include "little_web.h"

#include "http_parser.h"

#include <filch/filch.h>

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define WORK    FILCH_MS(1) /* that it pretends to have with a page */
#define TIMEOUT FILCH_S(10)

static unsigned pages;
static atomic_bool *asked; /* for each page */
static atomic_uint now, most;
static int listener;
static filch_fiber *acceptor;
static filch_wait_group served;

/* ---- pages ---- */

static int write_page(char *to, size_t room, unsigned i)
{
    char body[512];
    int n = snprintf(body, sizeof body,
                     "<p>This is page %u.</p> <a href=\"/%u\">left</a> <a href=\"/%u\">right</a> "
                     "<a href=\"/%u\">up</a> <a href=\"/0\">home</a> <a href=\"http://elsewhere/\">"
                     "far</a> <a href=\"/lost\n",
                     i, (2 * i + 1) % pages, (2 * i + 2) % pages, i / 2);

    return snprintf(to, room, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", n, body);
}

static int write_error(char *to, size_t room, const char *status)
{
    return snprintf(to, room, "HTTP/1.1 %s\r\nContent-Length: 0\r\n\r\n", status);
}

/* A page that is flaky breaks off in the middle; one that is broken says so. */
static int write_answer(char *to, size_t room, const char *path)
{
    char *end;
    unsigned long i = strtoul(path + 1, &end, 10);
    bool again;

    if (i >= pages || *end != ' ')
        return write_error(to, room, "404 Not Found");
    again = atomic_exchange(&asked[i], true);
    if (i % WEB_BROKEN == WEB_BROKEN - 1)
        return write_error(to, room, "503 Service Unavailable");
    return write_page(to, room, (unsigned)i) / (i % WEB_FLAKY == WEB_FLAKY - 1 && !again ? 2 : 1);
}

/* ---- connections ---- */

static void enter(void)
{
    unsigned n = atomic_fetch_add(&now, 1) + 1, seen = atomic_load(&most);

    while (seen < n && !atomic_compare_exchange_weak(&most, &seen, n))
        continue;
}

static int read_head(int fd, http_parser *p, char *in, size_t room)
{
    int64_t deadline = filch_now() + TIMEOUT;
    int head = 0;

    for (size_t n = 0; head == 0 && n < room;) {
        ssize_t got = filch_read_until(fd, in + n, room - n, deadline);
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

    enter();
    if (read_head(fd, &p, in, sizeof in) > 0) {
        filch_sleep(WORK);
        filch_write_all(fd, out, (size_t)write_answer(out, sizeof out, in + p.path));
    }
    atomic_fetch_sub(&now, 1); /* before the other side can see the end */
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

int web_start(unsigned n)
{
    pages = n;
    listener = filch_listen("127.0.0.1", 0, 1024);
    if (listener < 0)
        return listener;
    asked = calloc(n, sizeof *asked);
    acceptor = asked ? filch_fiber_start(accept_all, NULL) : NULL;
    if (acceptor)
        return filch_local_port(listener);
    free(asked);
    filch_close(listener);
    return -ENOMEM;
}

unsigned web_stop(void)
{
    filch_close(listener);
    filch_fiber_join(acceptor, NULL);
    filch_wait_group_wait(&served);
    free(asked);
    return most;
}
