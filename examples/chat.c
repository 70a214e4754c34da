/* chat: a chat server.  It shows channels, filch_select and fiber cancellation.  Each client has
 * two fibers: one reads its lines, the other writes lines to it. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* getopt, shutdown */
#endif
#include "chat_hub.h"
#include "server.h"

#include <filch/filch.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static const char usage[] = "usage: chat [-p SECONDS] PORT\n"
                            "  -p SECONDS  announce the number of members periodically\n"
                            "Listens on 127.0.0.1:PORT (0: any free port).  Send your name, then "
                            "lines for all others; /names, /quit.\n"
                            "Clients that read too slowly are disconnected.  SIGINT or SIGTERM "
                            "stops the server.\n";

#define STACK_SIZE (64 << 10)
#define DRAIN_TIME FILCH_S(1) /* time to write the last lines */

typedef struct client {
    member member;
    size_t n;
    bool skipping; /* discarding the rest of a line that is too long */
    char in[CHAT_TEXT + 2];
    char said[CHAT_TEXT + 1];
} client;

static int64_t period;

/* ---- out ---- */

static ssize_t write_some(member *m, const char *text, size_t n)
{
    ssize_t done = filch_write_until(m->fd, text, n, 0);

    if (done != -ETIMEDOUT)
        return done;
    atomic_store(&m->blocked, true);
    done = filch_write(m->fd, text, n);
    atomic_store(&m->blocked, false);
    return done;
}

static void *write_lines(void *arg)
{
    member *m = arg;
    ssize_t n = 0;
    line l;

    while (n >= 0 && filch_chan_recv(m->outbox, &l) == 0)
        for (size_t done = 0; done < l.n && n >= 0; done += (size_t)n)
            n = write_some(m, l.text + done, l.n - done);
    atomic_store(&m->blocked, true);
    return NULL;
}

/* Send a notice, unless the client's outbox is full. */
static void send_notice(client *c, const char *text)
{
    line l = hub_line("* %s", text);

    filch_chan_try_send(c->member.outbox, &l);
}

/* ---- in ---- */

static bool is_text(const char *at, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (((unsigned char)at[i] < ' ' && at[i] != '\t') || at[i] == 0x7f)
            return false;
    return true;
}

/* Move the line that ends at this newline from `in` to `said`. */
static int take_line(client *c, const char *newline)
{
    size_t n = (size_t)(newline - c->in), rest = c->n - n - 1;
    bool skipped = c->skipping;
    int e = 0;

    n -= n > 0 && newline[-1] == '\r';
    if (skipped || n > CHAT_TEXT)
        e = -EMSGSIZE;
    else if (!is_text(c->in, n))
        e = -EBADMSG;
    else
        snprintf(c->said, sizeof c->said, "%.*s", (int)n, c->in);
    memmove(c->in, newline + 1, rest);
    c->n = rest;
    c->skipping = false;
    return e;
}

/* During the stop, read only data that has already arrived. */
static ssize_t read_some(client *c)
{
    bool last = server_is_stopping();

    if (last && filch_now() >= server_stop_by())
        return -ETIMEDOUT;
    return filch_read_until(c->member.fd, c->in + c->n, sizeof c->in - c->n,
                            last ? 0 : FILCH_FOREVER);
}

/* Returns 0: the next line is in said; -EMSGSIZE or -EBADMSG: the line is invalid; -EPIPE: no
 * more lines. */
static int read_line(client *c)
{
    const char *newline;
    ssize_t n;

    while ((newline = memchr(c->in, '\n', c->n)) == NULL) {
        if (c->n == sizeof c->in) {
            c->skipping = true;
            c->n = 0;
        }
        n = read_some(c);
        if (n <= 0 && !server_stop_interrupted(n))
            return -EPIPE;
        c->n += n > 0 ? (size_t)n : 0;
    }
    return take_line(c, newline);
}

/* e is the result of read_line.  Returns false when the session ends. */
static bool handle_line(client *c, int e)
{
    if (e == -EMSGSIZE)
        send_notice(c, "that line is too long");
    else if (e == -EBADMSG)
        send_notice(c, "that is not text");
    else if (e < 0 || strcmp(c->said, "/quit") == 0)
        return false;
    else if (c->said[0] == '/' && strcmp(c->said, "/names") != 0)
        send_notice(c, "commands: /names, /quit");
    else if (c->said[0] != '\0')
        hub_say(&c->member, c->said);
    return true;
}

static bool is_name(const char *name)
{
    size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-");

    return n > 0 && n <= CHAT_NAME && name[n] == '\0';
}

/* ---- clients ---- */

static void run_session(client *c)
{
    send_notice(c, "your name?");
    if (read_line(c) < 0)
        return;
    if (!is_name(c->said)) {
        send_notice(c, "that is not a valid name");
        return;
    }
    snprintf(c->member.name, sizeof c->member.name, "%.*s", CHAT_NAME, c->said);
    if (!hub_join(&c->member)) {
        send_notice(c, "that name is taken");
        return;
    }
    while (handle_line(c, read_line(c)))
        continue;
    send_notice(c, server_is_stopping() ? "the server stops" : "good bye");
    hub_leave(&c->member);
}

/* Wait until the last lines are written.  After DRAIN_TIME, shut the connection down. */
static void end_writer(filch_fiber *writer, const member *m)
{
    int64_t deadline = filch_now() + DRAIN_TIME;
    int e;

    while ((e = filch_fiber_join_until(writer, NULL, deadline)) < 0)
        if (!server_stop_interrupted(e)) {
            shutdown(m->fd, SHUT_RDWR);
            deadline = FILCH_FOREVER;
        }
}

static void serve(int fd)
{
    static const filch_fiber_attr attr = {.name = "writer", .stack_size = STACK_SIZE};
    client c = {.member = {.fd = fd}};
    filch_fiber *writer = NULL;

    c.member.outbox = filch_chan_new(sizeof(line), CHAT_OUTBOX);
    if (c.member.outbox)
        writer = filch_fiber_start_attr(&attr, write_lines, &c.member);
    if (writer) {
        run_session(&c);
        filch_chan_close(c.member.outbox);
        end_writer(writer, &c.member);
    }
    filch_chan_free(c.member.outbox);
}

static void begin(void)
{
    int e = hub_start(period);

    if (e < 0)
        server_fail("chat", "cannot start the hub", e);
}

int main(int argc, char **argv)
{
    server s = {.name = "chat",
                .stack_size = STACK_SIZE,
                .grace = DRAIN_TIME,
                .begin = begin,
                .serve = serve,
                .end = hub_stop};

    for (int option; (option = getopt(argc, argv, "hp:")) != -1;) {
        if (option == 'h')
            return fputs(usage, stdout) < 0;
        if (option == '?')
            return 2;
        period = (int64_t)(server_number("chat", "number of seconds", optarg, 0.001, 1e6) * 1e9);
    }
    if (argc - optind != 1) {
        fprintf(stderr, "chat: expected one PORT; see chat -h\n");
        return 2;
    }
    s.port = (int)server_number("chat", "port", argv[optind], 0, 65535);
    return server_run(&s);
}
