/* A chat server.  Of each client one fiber reads the lines, another writes what it is to hear. */
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
                            "  -p SECONDS  say again and again how many are there\n"
                            "Listens on 127.0.0.1:PORT (0: any).  Say your name, then lines that "
                            "all others hear; /names, /quit.\n"
                            "Who does not listen is put out.  SIGINT or SIGTERM stops it.\n";

#define STACK_SIZE (64 << 10)
#define FAREWELL   FILCH_S(1) /* for the last lines to be written */

typedef struct client {
    member member;
    size_t n;
    bool skips; /* the rest of a line that was too long */
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
    atomic_store(&m->deaf, true);
    done = filch_write(m->fd, text, n);
    atomic_store(&m->deaf, false);
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
    atomic_store(&m->deaf, true);
    return NULL;
}

/* Who has much to read already is not told. */
static void tell(client *c, const char *text)
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

/* The line up to this newline goes from in to said. */
static int take_line(client *c, const char *newline)
{
    size_t n = (size_t)(newline - c->in), rest = c->n - n - 1;
    bool skipped = c->skips;
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
    c->skips = false;
    return e;
}

/* At the stop, what has come already. */
static ssize_t read_some(client *c)
{
    bool last = server_stops();

    if (last && filch_now() >= server_stop_by())
        return -ETIMEDOUT;
    return filch_read_until(c->member.fd, c->in + c->n, sizeof c->in - c->n,
                            last ? 0 : FILCH_FOREVER);
}

/* 0: the next line is in said; -EMSGSIZE or -EBADMSG: it is not fit to be; -EPIPE: no more lines. */
static int read_line(client *c)
{
    const char *newline;
    ssize_t n;

    while ((newline = memchr(c->in, '\n', c->n)) == NULL) {
        if (c->n == sizeof c->in) {
            c->skips = true;
            c->n = 0;
        }
        n = read_some(c);
        if (n <= 0 && !server_was_stop(n))
            return -EPIPE;
        c->n += n > 0 ? (size_t)n : 0;
    }
    return take_line(c, newline);
}

/* e is what read_line has returned.  True: there may be more. */
static bool do_line(client *c, int e)
{
    if (e == -EMSGSIZE)
        tell(c, "that line is too long");
    else if (e == -EBADMSG)
        tell(c, "that is no text");
    else if (e < 0 || strcmp(c->said, "/quit") == 0)
        return false;
    else if (c->said[0] == '/' && strcmp(c->said, "/names") != 0)
        tell(c, "there are /names and /quit");
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

static void talk(client *c)
{
    tell(c, "your name?");
    if (read_line(c) < 0)
        return;
    if (!is_name(c->said)) {
        tell(c, "that is no name");
        return;
    }
    snprintf(c->member.name, sizeof c->member.name, "%.*s", CHAT_NAME, c->said);
    if (!hub_join(&c->member)) {
        tell(c, "that name is taken");
        return;
    }
    while (do_line(c, read_line(c)))
        continue;
    tell(c, server_stops() ? "the server stops" : "good bye");
    hub_leave(&c->member);
}

/* The last lines are written, unless nobody takes them. */
static void end_writer(filch_fiber *writer, const member *m)
{
    int64_t deadline = filch_now() + FAREWELL;
    int e;

    while ((e = filch_fiber_join_until(writer, NULL, deadline)) < 0)
        if (!server_was_stop(e)) {
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
        talk(&c);
        filch_chan_close(c.member.outbox);
        end_writer(writer, &c.member);
    }
    filch_chan_free(c.member.outbox);
}

static void begin(void)
{
    int e = hub_start(period);

    if (e < 0)
        server_fail("chat", "no hub", e);
}

int main(int argc, char **argv)
{
    server s = {.name = "chat",
                .stack_size = STACK_SIZE,
                .grace = FAREWELL,
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
        fprintf(stderr, "chat: one PORT is needed; chat -h says more\n");
        return 2;
    }
    s.port = (int)server_number("chat", "port", argv[optind], 0, 65535);
    return server_run(&s);
}
