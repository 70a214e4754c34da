#include "chat_hub.h"

#include <filch/filch.h>

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#define TURN FILCH_MS(1)

typedef struct message {
    member *from;
    char text[CHAT_TEXT + 1];
} message;

/* Of capacity 0: what a member has said the hub has taken before it leaves. */
static filch_chan *join, *leave, *say;
static filch_fiber *hub;
static int64_t period;

/* ---- the hub's own ---- */

static member *all;
static unsigned people, slow_ones;

/* When a writer is not deaf but has no room, it had no turn yet. */
static bool deliver(member *c, const line *l)
{
    int e = filch_chan_try_send(c->outbox, l);

    while ((e == -EAGAIN || e == -ETIMEDOUT) && !atomic_load(&c->deaf))
        e = filch_chan_send_until(c->outbox, l, filch_now() + TURN);
    return e == 0;
}

static void post(member *c, const line *l)
{
    if (!c->slow && !deliver(c, l)) {
        c->slow = true;
        slow_ones++;
    }
}

static void post_all(const member *but, const line *l)
{
    for (member *c = all; c; c = c->next)
        if (c != but)
            post(c, l);
}

static bool take_out(member *c)
{
    member **link = &all;

    while (*link && *link != c)
        link = &(*link)->next;
    if (!*link)
        return false;
    *link = c->next;
    c->is_in = false;
    people--;
    slow_ones -= c->slow;
    return true;
}

/* Its fibers find that there is nobody any more, whatever they wait for. */
static void put_out(member *c)
{
    line l = hub_line("* %s does not listen and is put out", c->name);

    take_out(c);
    shutdown(c->fd, SHUT_RDWR);
    filch_chan_close(c->outbox);
    post_all(NULL, &l);
}

/* To tell of one may show that another is slow. */
static void put_out_slow(void)
{
    while (slow_ones > 0) {
        member *c = all;
        while (!c->slow)
            c = c->next;
        put_out(c);
    }
}

static bool is_taken(const char *name)
{
    const member *c = all;

    while (c && strcmp(c->name, name) != 0)
        c = c->next;
    return c != NULL;
}

static void do_join(member *c)
{
    line l;

    c->let_in = !is_taken(c->name);
    if (c->let_in) {
        l = hub_line("* %s is here", c->name);
        post_all(NULL, &l);
        c->is_in = true;
        c->next = all;
        all = c;
        people++;
        l = hub_line("* welcome");
        post(c, &l);
    }
    filch_sem_post(&c->answered);
}

/* After the answer it may be gone. */
static void do_leave(member *c)
{
    line l;

    if (take_out(c)) {
        l = hub_line("* %s has left", c->name);
        post_all(NULL, &l);
    }
    filch_sem_post(&c->answered);
}

static void send_names(member *to)
{
    line l;

    for (member *c = all; c; c = c->next) {
        l = hub_line("* %s", c->name);
        post(to, &l);
    }
}

/* Who was put out may have said it before it knew. */
static void do_say(const message *m)
{
    line l;

    if (!m->from->is_in)
        return;
    if (strcmp(m->text, "/names") == 0) {
        send_names(m->from);
        return;
    }
    l = hub_line("%s: %s", m->from->name, m->text);
    post_all(m->from, &l);
}

static int64_t tell_count(int64_t deadline)
{
    line l = hub_line("* %u %s here", people, people == 1 ? "person" : "people");

    post_all(NULL, &l);
    return deadline + period;
}

static void *run_hub(void *arg)
{
    member *came, *went;
    message m;
    filch_case cases[] = {
        FILCH_CASE_RECV(join, &came),
        FILCH_CASE_RECV(leave, &went),
        FILCH_CASE_RECV(say, &m),
    };
    int64_t deadline = period > 0 ? filch_now() + period : FILCH_FOREVER;
    int i;

    while ((i = filch_select_until(cases, 3, deadline)) != 0 || cases[0].result == 0) {
        if (i == 0)
            do_join(came);
        else if (i == 1)
            do_leave(went);
        else if (i == 2)
            do_say(&m);
        else if (i == -ETIMEDOUT)
            deadline = tell_count(deadline);
        put_out_slow();
    }
    return arg;
}

/* ---- what others call ---- */

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

/* The hub takes all, soon.  So this does not give up when the fiber is cancelled: who reads lines will see the stop. */
static void tell_hub(filch_chan *to, const void *item)
{
    while (filch_chan_send(to, item) == -ECANCELED)
        filch_fiber_uncancel();
}

static void ask_hub(filch_chan *to, member *m)
{
    tell_hub(to, &m);
    while (filch_sem_wait(&m->answered) == -ECANCELED)
        filch_fiber_uncancel();
}

bool hub_join(member *m)
{
    ask_hub(join, m);
    return m->let_in;
}

void hub_say(member *m, const char *text)
{
    message said = {.from = m};

    snprintf(said.text, sizeof said.text, "%s", text);
    tell_hub(say, &said);
}

void hub_leave(member *m)
{
    ask_hub(leave, m);
}
