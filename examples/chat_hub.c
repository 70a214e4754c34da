/* The hub's fiber, and the calls by which other fibers send to it. */
#include "chat_hub.h"

#include <filch/filch.h>

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#define SEND_WAIT FILCH_MS(1)

typedef struct message {
    member *from;
    char text[CHAT_TEXT + 1];
} message;

/* Unbuffered: the hub has received all lines of a member before it receives its leave. */
static filch_chan *join, *leave, *say;
static filch_fiber *hub;
static int64_t period;

/* ---- state of the hub ---- */

static member *all;
static unsigned n_members, n_slow;

/* Returns false if the member is slow.  If its outbox is full but its writer is not blocked,
 * wait until the writer has run. */
static bool deliver(member *c, const line *l)
{
    int e = filch_chan_try_send(c->outbox, l);

    while ((e == -EAGAIN || e == -ETIMEDOUT) && !atomic_load(&c->blocked))
        e = filch_chan_send_until(c->outbox, l, filch_now() + SEND_WAIT);
    return e == 0;
}

static void post(member *c, const line *l)
{
    if (!c->slow && !deliver(c, l)) {
        c->slow = true;
        n_slow++;
    }
}

static void post_all(const member *but, const line *l)
{
    for (member *c = all; c; c = c->next)
        if (c != but)
            post(c, l);
}

static bool member_remove(member *c)
{
    member **link = &all;

    while (*link && *link != c)
        link = &(*link)->next;
    if (!*link)
        return false;
    *link = c->next;
    c->is_member = false;
    n_members--;
    n_slow -= c->slow;
    return true;
}

/* Disconnect the member.  The shutdown and the close wake both of its fibers. */
static void disconnect(member *c)
{
    line l = hub_line("* %s reads too slowly and is disconnected", c->name);

    member_remove(c);
    shutdown(c->fd, SHUT_RDWR);
    filch_chan_close(c->outbox);
    post_all(NULL, &l);
}

/* Announcing a disconnection may find further slow members. */
static void disconnect_slow(void)
{
    while (n_slow > 0) {
        member *c = all;
        while (!c->slow)
            c = c->next;
        disconnect(c);
    }
}

static bool is_taken(const char *name)
{
    const member *c = all;

    while (c && strcmp(c->name, name) != 0)
        c = c->next;
    return c != NULL;
}

static void handle_join(member *c)
{
    line l;

    c->accepted = !is_taken(c->name);
    if (c->accepted) {
        l = hub_line("* %s is here", c->name);
        post_all(NULL, &l);
        c->is_member = true;
        c->next = all;
        all = c;
        n_members++;
        l = hub_line("* welcome");
        post(c, &l);
    }
    filch_sem_post(&c->reply);
}

/* After the reply the member may no longer exist. */
static void handle_leave(member *c)
{
    line l;

    if (member_remove(c)) {
        l = hub_line("* %s has left", c->name);
        post_all(NULL, &l);
    }
    filch_sem_post(&c->reply);
}

static void send_names(member *to)
{
    line l;

    for (member *c = all; c; c = c->next) {
        l = hub_line("* %s", c->name);
        post(to, &l);
    }
}

/* A disconnected member may have sent this line before it noticed. */
static void handle_say(const message *m)
{
    line l;

    if (!m->from->is_member)
        return;
    if (strcmp(m->text, "/names") == 0) {
        send_names(m->from);
        return;
    }
    l = hub_line("%s: %s", m->from->name, m->text);
    post_all(m->from, &l);
}

static int64_t post_count(int64_t deadline)
{
    line l = hub_line("* %u %s here", n_members, n_members == 1 ? "person" : "people");

    post_all(NULL, &l);
    return deadline + period;
}

static void *run_hub(void *arg)
{
    member *joining, *leaving;
    message m;
    filch_case cases[] = {
        FILCH_CASE_RECV(join, &joining),
        FILCH_CASE_RECV(leave, &leaving),
        FILCH_CASE_RECV(say, &m),
    };
    int64_t deadline = period > 0 ? filch_now() + period : FILCH_FOREVER;
    int i;

    while ((i = filch_select_until(cases, 3, deadline)) != 0 || cases[0].result == 0) {
        if (i == 0)
            handle_join(joining);
        else if (i == 1)
            handle_leave(leaving);
        else if (i == 2)
            handle_say(&m);
        else if (i == -ETIMEDOUT)
            deadline = post_count(deadline);
        disconnect_slow();
    }
    return arg;
}

/* ---- interface ---- */

line hub_line(const char *format, ...)
{
    line l = {0};
    va_list args;

    va_start(args, format);
    vsnprintf(l.text, sizeof l.text - 1, format, args);
    va_end(args);
    l.n = strlen(l.text);
    l.text[l.n++] = '\n';
    return l;
}

static void free_channels(void)
{
    filch_chan_free(join);
    filch_chan_free(leave);
    filch_chan_free(say);
}

int hub_start(int64_t every)
{
    period = every;
    join = filch_chan_new(sizeof(member *), 0);
    leave = filch_chan_new(sizeof(member *), 0);
    say = filch_chan_new(sizeof(message), 0);
    hub = join && leave && say ? filch_fiber_start(run_hub, NULL) : NULL;
    if (hub)
        return 0;
    free_channels();
    return -ENOMEM;
}

void hub_stop(void)
{
    filch_chan_close(join);
    filch_fiber_join(hub, NULL);
    free_channels();
}

/* The hub always receives, so do not give up when the fiber is cancelled.  The reader checks for
 * the stop. */
static void hub_send(filch_chan *to, const void *item)
{
    while (filch_chan_send(to, item) == -ECANCELED)
        filch_fiber_uncancel();
}

static void hub_call(filch_chan *to, member *m)
{
    hub_send(to, &m);
    while (filch_sem_wait(&m->reply) == -ECANCELED)
        filch_fiber_uncancel();
}

bool hub_join(member *m)
{
    hub_call(join, m);
    return m->accepted;
}

void hub_say(member *m, const char *text)
{
    message said = {.from = m};

    snprintf(said.text, sizeof said.text, "%s", text);
    hub_send(say, &said);
}

void hub_leave(member *m)
{
    hub_call(leave, m);
}
