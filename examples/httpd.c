/* A server that says hello, with all that a server on a real network needs: a fiber for each connection, limits,
 * deadlines, and a stop that loses no request. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* getopt, shutdown, struct iovec */
#endif
#include "http_answer.h"
#include "http_parser.h"
#include "server.h"

#include <filch/filch.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

static const char usage[] =
    "usage: httpd [-t SECONDS] [-c MAX] PORT\n"
    "  -t SECONDS  how long a request may take, and a connection stay idle (10)\n"
    "  -c MAX      connections at a time; more wait until one ends\n"
    "Answers GET / on 127.0.0.1:PORT; with 0 for PORT on any port, and says on which.  SIGINT or "
    "SIGTERM stops it.\n";

#define IN_SIZE    1536 /* so that a stack is one page; longer heads get memory from elsewhere */
#define OUT_MAX    32   /* answers in one write */
#define BODY_MAX   (1 << 20) /* bytes of a request that are read past */
#define STACK_SIZE (64 << 10)
#define FAREWELL   FILCH_S(1) /* for who was refused to read why */

typedef struct connection {
    int fd;
    bool ends;    /* after what is in out */
    bool refused; /* there may be more of it to come */
    bool timed;   /* the deadline is that of a request which is not complete */
    size_t n, room;
    char *in;
    uint64_t skip; /* bytes of a body that are still to come */
    http_parser parser;
    int64_t deadline;
    int out_n;
    struct iovec out[OUT_MAX];
} connection;

static int64_t patience = FILCH_S(10);

/* ---- bytes ---- */

/* To be sent with the next write.  The text stays where it is. */
static void put(connection *c, int status)
{
    http_ending ending = c->ends ? HTTP_CLOSES : c->parser.old ? HTTP_STAYS : HTTP_SAYS_NOTHING;

    c->out[c->out_n++] = http_answer(status, ending, c->parser.method == HTTP_HEAD);
}

/* At the stop, who is in the middle of a request may finish it; others get what has come already. */
static ssize_t receive(connection *c)
{
    ssize_t n;

    do {
        bool last = server_stops();
        if (last && filch_now() >= server_stop_by())
            return -ETIMEDOUT;
        n = filch_read_until(c->fd, c->in + c->n, c->room - c->n,
                             last && !c->timed ? 0 : c->deadline);
    } while (server_was_stop(n));
    return n;
}

/* Forget n bytes of what is to be sent. */
static void advance(connection *c, struct iovec **v, size_t n)
{
    while (c->out_n > 0 && n >= (*v)->iov_len) {
        n -= (*v)->iov_len;
        (*v)++;
        c->out_n--;
    }
    if (n > 0) {
        (*v)->iov_base = (char *)(*v)->iov_base + n;
        (*v)->iov_len -= n;
    }
}

static bool send_all(connection *c)
{
    struct iovec *v = c->out;

    while (c->out_n > 0) {
        ssize_t n = c->out_n == 1 ? filch_write_until(c->fd, v->iov_base, v->iov_len, c->deadline)
                                  : filch_writev_until(c->fd, v, c->out_n, c->deadline);
        if (n < 0 && !server_was_stop(n)) {
            c->out_n = 0;
            c->ends = true;
            return false;
        }
        if (n > 0)
            advance(c, &v, (size_t)n);
    }
    return true;
}

/* A close while there are bytes to read would throw away what was sent. */
static void say_farewell(connection *c)
{
    int64_t deadline = filch_now() + FAREWELL;

    shutdown(c->fd, SHUT_WR);
    while (filch_read_until(c->fd, c->in, c->room, deadline) > 0 && filch_now() < deadline)
        continue;
}

/* ---- requests ---- */

static void refuse(connection *c, int status)
{
    c->ends = c->refused = true;
    put(c, status);
}

static int status_of(const http_parser *p, const char *path)
{
    if (p->method == HTTP_OTHER)
        return 405;
    return p->path_n == 0 || (p->path_n == 1 && *path == '/') ? 200 : 404;
}

/* The answer does not wait for the body, as nothing in it depends on that.  So who asks whether to send the body at all
 * has an answer as well, but may send it or not, and only the end of the connection is the same for both. */
static void answer_request(connection *c, const char *text)
{
    http_parser *p = &c->parser;

    if (p->body > BODY_MAX) {
        refuse(c, 413);
        return;
    }
    c->ends = !p->keep_alive || p->expects;
    c->refused = c->ends && p->body > 0;
    c->skip = p->body;
    put(c, status_of(p, text + p->path));
    *p = (http_parser){0};
}

static size_t skip_body(connection *c, size_t at)
{
    size_t n = c->n - at < c->skip ? c->n - at : (size_t)c->skip;

    c->skip -= n;
    return at + n;
}

/* All requests that have come, until out is full.  Returns: where the rest begins. */
static size_t answer_some(connection *c, size_t at)
{
    while (!c->ends && c->out_n < OUT_MAX && (at = skip_body(c, at)) < c->n) {
        int head = http_parse(&c->parser, c->in + at, c->n - at);
        if (head == 0)
            break;
        if (head < 0)
            refuse(c, -head);
        else
            answer_request(c, c->in + at);
        at += head > 0 ? (size_t)head : 0;
    }
    return at;
}

/* A deadline is for the answers and the next request, and does not move while that is incomplete. */
static void set_deadline(connection *c, bool incomplete)
{
    if (c->out_n > 0 || !c->timed)
        c->deadline = filch_now() + patience;
    c->timed = incomplete;
}

/* The rest goes to the front.  Behind it there is always room, as the parser refuses heads that are longer. */
static void keep_rest(connection *c, size_t at, char *small)
{
    char *more;

    c->n -= at;
    if (c->n > 0 && at > 0)
        memmove(c->in, c->in + at, c->n);
    if (c->n == 0 && c->in != small) {
        free(c->in);
        c->in = small;
        c->room = IN_SIZE;
    } else if (c->n == IN_SIZE && c->in == small) {
        more = malloc(HTTP_HEAD_MAX);
        c->ends |= !more;
        if (more) {
            memcpy(more, small, IN_SIZE);
            c->in = more;
            c->room = HTTP_HEAD_MAX;
        }
    }
}

static void answer_all(connection *c, char *small)
{
    size_t at = 0;
    bool more, sent;

    do {
        at = answer_some(c, at);
        more = c->out_n == OUT_MAX;
        set_deadline(c, at < c->n || c->skip > 0);
        sent = send_all(c);
    } while (sent && more);
    c->refused = sent && c->ends && (c->refused || at < c->n);
    keep_rest(c, at, small);
}

/* ---- connections ---- */

static void serve(int fd)
{
    char small[IN_SIZE];
    connection c = {.fd = fd, .in = small, .room = IN_SIZE};
    ssize_t n = 0;

    set_deadline(&c, false);
    while (!c.ends && (n = receive(&c)) > 0) {
        c.n += (size_t)n;
        answer_all(&c, small);
    }
    if (n == -ETIMEDOUT && c.n > 0) {
        refuse(&c, 408);
        c.deadline = filch_now() + FAREWELL;
        send_all(&c);
    }
    if (c.refused)
        say_farewell(&c);
    if (c.in != small)
        free(c.in);
}

int main(int argc, char **argv)
{
    server s = {.name = "httpd", .stack_size = STACK_SIZE, .serve = serve};

    for (int option; (option = getopt(argc, argv, "ht:c:")) != -1;) {
        if (option == 'h')
            return fputs(usage, stdout) < 0;
        if (option == '?')
            return 2;
        if (option == 't')
            patience =
                (int64_t)(server_number("httpd", "number of seconds", optarg, 0.001, 1e6) * 1e9);
        if (option == 'c')
            s.max = (unsigned)server_number("httpd", "number of connections", optarg, 1, 1e6);
    }
    if (argc - optind != 1) {
        fprintf(stderr, "httpd: one PORT is needed; httpd -h says more\n");
        return 2;
    }
    s.port = (int)server_number("httpd", "port", argv[optind], 0, 65535);
    s.grace = patience;
    http_answers_write();
    return server_run(&s);
}
