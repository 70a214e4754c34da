/* httpd: an HTTP/1.1 server with one fiber per connection.  It shows what a server on a real
 * network needs: limits, deadlines, pipelining, and a stop that loses no request. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* getopt, shutdown, struct iovec */
#endif
#include "http_parser.h"
#include "http_response.h"
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
    "  -t SECONDS  timeout of a request and of an idle connection (10)\n"
    "  -c MAX      max number of connections; further ones wait\n"
    "Answers GET / on 127.0.0.1:PORT (0: any free port, which it prints).  SIGINT or SIGTERM stops "
    "the server.\n";

#define IN_SIZE    1536      /* a fiber then uses one page of its stack; longer heads use malloc */
#define OUT_MAX    32        /* responses per write */
#define BODY_MAX   (1 << 20) /* max size of a skipped request body */
#define STACK_SIZE (64 << 10)
#define DRAIN_TIME FILCH_S(1) /* time for the client to read an error response */

typedef struct connection {
    int fd;
    bool ends;     /* close after sending `out` */
    bool rejected; /* rejected; unread input may follow */
    bool timed;    /* the deadline applies to an incomplete request */
    size_t n, capacity;
    char *in;
    uint64_t skip; /* remaining bytes of the request body */
    http_parser parser;
    int64_t deadline;
    int out_n;
    struct iovec out[OUT_MAX];
} connection;

static int64_t timeout = FILCH_S(10);

/* ---- bytes ---- */

/* Append a response to `out`.  The text is not copied. */
static void add_response(connection *c, int status)
{
    http_connection field = c->ends                 ? HTTP_CONNECTION_CLOSE
                            : c->parser.is_http_1_0 ? HTTP_CONNECTION_KEEP_ALIVE
                                                    : HTTP_CONNECTION_NONE;

    c->out[c->out_n++] = http_response(status, field, c->parser.method == HTTP_HEAD);
}

/* During the stop, wait only for the rest of an incomplete request.  Otherwise read only data
 * that has already arrived. */
static ssize_t receive(connection *c)
{
    ssize_t n;

    do {
        bool last = server_is_stopping();
        if (last && filch_now() >= server_stop_by())
            return -ETIMEDOUT;
        n = filch_read_until(c->fd, c->in + c->n, c->capacity - c->n,
                             last && !c->timed ? 0 : c->deadline);
    } while (server_stop_interrupted(n));
    return n;
}

/* Remove n sent bytes from *v. */
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
        if (n < 0 && !server_stop_interrupted(n)) {
            c->out_n = 0;
            c->ends = true;
            return false;
        }
        if (n > 0)
            advance(c, &v, (size_t)n);
    }
    return true;
}

/* Read and discard input: closing a socket with unread input resets the connection, and the
 * client may lose the response. */
static void drain_input(connection *c)
{
    int64_t deadline = filch_now() + DRAIN_TIME;

    shutdown(c->fd, SHUT_WR);
    while (filch_read_until(c->fd, c->in, c->capacity, deadline) > 0 && filch_now() < deadline)
        continue;
}

/* ---- requests ---- */

static void reject(connection *c, int status)
{
    c->ends = c->rejected = true;
    add_response(c, status);
}

static int status_of(const http_parser *p, const char *path)
{
    if (p->method == HTTP_OTHER)
        return 405;
    return p->path_n == 0 || (p->path_n == 1 && *path == '/') ? 200 : 404;
}

/* The response does not depend on the body, so send it before the body arrives.  A client that
 * sent Expect: 100-continue gets the final response and may or may not send the body; so close
 * the connection. */
static void respond_to_request(connection *c, const char *text)
{
    http_parser *p = &c->parser;

    if (p->body > BODY_MAX) {
        reject(c, 413);
        return;
    }
    c->ends = !p->keep_alive || p->expects_continue;
    c->rejected = c->ends && p->body > 0;
    c->skip = p->body;
    add_response(c, status_of(p, text + p->path));
    *p = (http_parser){0};
}

static size_t skip_body(connection *c, size_t at)
{
    size_t n = c->n - at < c->skip ? c->n - at : (size_t)c->skip;

    c->skip -= n;
    return at + n;
}

/* Respond to complete requests until `out` is full.  Returns the offset of the rest. */
static size_t respond_to_some(connection *c, size_t at)
{
    while (!c->ends && c->out_n < OUT_MAX && (at = skip_body(c, at)) < c->n) {
        int head = http_parse(&c->parser, c->in + at, c->n - at);
        if (head == 0)
            break;
        if (head < 0)
            reject(c, -head);
        else
            respond_to_request(c, c->in + at);
        at += head > 0 ? (size_t)head : 0;
    }
    return at;
}

/* The deadline covers the responses and the next request.  It does not move while a request is
 * incomplete. */
static void set_deadline(connection *c, bool incomplete)
{
    if (c->out_n > 0 || !c->timed)
        c->deadline = filch_now() + timeout;
    c->timed = incomplete;
}

/* Move the incomplete rest to the front of the buffer.  It never fills the buffer, because the
 * parser rejects longer heads. */
static void keep_rest(connection *c, size_t at, char *stack_buffer)
{
    char *more;

    c->n -= at;
    if (c->n > 0 && at > 0)
        memmove(c->in, c->in + at, c->n);
    if (c->n == 0 && c->in != stack_buffer) {
        free(c->in);
        c->in = stack_buffer;
        c->capacity = IN_SIZE;
    } else if (c->n == IN_SIZE && c->in == stack_buffer) {
        more = malloc(HTTP_HEAD_MAX);
        c->ends |= !more;
        if (more) {
            memcpy(more, stack_buffer, IN_SIZE);
            c->in = more;
            c->capacity = HTTP_HEAD_MAX;
        }
    }
}

static void respond_to_all(connection *c, char *stack_buffer)
{
    size_t at = 0;
    bool more, sent;

    do {
        at = respond_to_some(c, at);
        more = c->out_n == OUT_MAX;
        set_deadline(c, at < c->n || c->skip > 0);
        sent = send_all(c);
    } while (sent && more);
    c->rejected = sent && c->ends && (c->rejected || at < c->n);
    keep_rest(c, at, stack_buffer);
}

/* ---- connections ---- */

static void serve(int fd)
{
    char stack_buffer[IN_SIZE];
    connection c = {.fd = fd, .in = stack_buffer, .capacity = IN_SIZE};
    ssize_t n = 0;

    set_deadline(&c, false);
    while (!c.ends && (n = receive(&c)) > 0) {
        c.n += (size_t)n;
        respond_to_all(&c, stack_buffer);
    }
    if (n == -ETIMEDOUT && c.n > 0) {
        reject(&c, 408);
        c.deadline = filch_now() + DRAIN_TIME;
        send_all(&c);
    }
    if (c.rejected)
        drain_input(&c);
    if (c.in != stack_buffer)
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
            timeout =
                (int64_t)(server_number("httpd", "number of seconds", optarg, 0.001, 1e6) * 1e9);
        if (option == 'c')
            s.max = (unsigned)server_number("httpd", "number of connections", optarg, 1, 1e6);
    }
    if (argc - optind != 1) {
        fprintf(stderr, "httpd: expected one PORT; see httpd -h\n");
        return 2;
    }
    s.port = (int)server_number("httpd", "port", argv[optind], 0, 65535);
    s.grace = timeout;
    http_responses_init();
    return server_run(&s);
}
