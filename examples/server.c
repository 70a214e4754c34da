/* Accept connections, start a fiber for each, and stop on a signal. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* sigset_t */
#endif
#include "server.h"

#include <filch/filch.h>

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>

#define PAUSE FILCH_MS(20) /* wait after a failed accept, such as EMFILE */

typedef struct connection {
    filch_fiber *fiber;
    struct connection *next, **link;
} connection;

static const server *self;
static int signals;
static filch_fiber *acceptor;
static filch_sem slots;
static filch_wait_group served;

static atomic_bool stopping;
static int64_t stop_by; /* written before `stopping` */

static filch_mutex lock;
static connection *all;

/* ---- command line ---- */

_Noreturn void server_fail(const char *name, const char *text, int e)
{
    fprintf(stderr, "%s: %s: %s\n", name, text, strerror(-e));
    exit(1);
}

double server_number(const char *name, const char *what, const char *text, double lo, double hi)
{
    char *end;
    double n = strtod(text, &end);

    if (end != text && *end == '\0' && n >= lo && n <= hi)
        return n;
    fprintf(stderr, "%s: %s is not a %s from %g to %g\n", name, text, what, lo, hi);
    exit(2);
}

/* ---- the stop ---- */

bool server_is_stopping(void)
{
    return atomic_load_explicit(&stopping, memory_order_acquire);
}

int64_t server_stop_by(void)
{
    return stop_by;
}

bool server_stop_interrupted(ssize_t result)
{
    return result == -ECANCELED && filch_fiber_uncancel();
}

/* A connection that is added later checks server_is_stopping() before it waits. */
static void cancel_all(void)
{
    filch_mutex_lock(&lock);
    for (connection *c = all; c; c = c->next)
        if (c->fiber)
            filch_fiber_cancel(c->fiber);
    filch_mutex_unlock(&lock);
}

static void stop_on_signal(void *arg)
{
    struct signalfd_siginfo info;

    (void)arg;
    filch_read(signals, &info, sizeof info);
    filch_close(signals);
    stop_by = filch_now() + self->grace;
    atomic_store_explicit(&stopping, true, memory_order_release);
    filch_fiber_cancel(acceptor);
    cancel_all();
}

/* Block the signals in all threads and read them from a signalfd.  Call before threads are
 * started. */
static void open_signals(void)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigprocmask(SIG_BLOCK, &set, NULL);
    signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (signals < 0)
        server_fail(self->name, "cannot create a signalfd", -errno);
}

/* ---- connections ---- */

static void connection_add(connection *c)
{
    filch_mutex_lock(&lock);
    c->next = all;
    c->link = &all;
    if (all)
        all->link = &c->next;
    all = c;
    filch_mutex_unlock(&lock);
}

static void connection_remove(connection *c)
{
    filch_mutex_lock(&lock);
    *c->link = c->next;
    if (c->next)
        c->next->link = c->link;
    filch_mutex_unlock(&lock);
}

static void connection_end(int fd)
{
    filch_close(fd);
    filch_sem_post(&slots);
    filch_wait_group_done(&served);
}

static void connection_body(void *arg)
{
    int fd = (int)(intptr_t)arg;
    connection c = {.fiber = filch_fiber_self()};

    connection_add(&c);
    self->serve(fd);
    connection_remove(&c);
    connection_end(fd);
}

static void connection_start(int fd)
{
    const filch_fiber_attr attr = {.name = "connection", .stack_size = self->stack_size};

    filch_wait_group_add(&served, 1);
    if (filch_go_attr(&attr, connection_body, (void *)(intptr_t)fd) < 0)
        connection_end(fd);
}

static int accept_one(int s, bool last)
{
    int fd = filch_sem_wait(&slots);

    if (fd < 0)
        return fd;
    fd = filch_accept_until(s, last ? 0 : FILCH_FOREVER);
    if (fd < 0)
        filch_sem_post(&slots);
    return fd;
}

/* During the stop, still serve connections that are already in the backlog. */
static void accept_all(int s)
{
    for (;;) {
        bool last = server_is_stopping();
        int fd = accept_one(s, last);
        if (fd >= 0)
            connection_start(fd);
        else if (last && (fd == -ETIMEDOUT || filch_now() >= stop_by))
            return;
        else if (!server_stop_interrupted(fd))
            filch_sleep(PAUSE);
    }
}

static void run(void *arg)
{
    int s = filch_listen("127.0.0.1", self->port, SOMAXCONN);

    (void)arg;
    if (s < 0)
        server_fail(self->name, "cannot listen", s);
    acceptor = filch_fiber_self();
    if (!acceptor || filch_go(stop_on_signal, NULL) < 0)
        server_fail(self->name, "cannot start", -ENOMEM);
    if (self->begin)
        self->begin();
    printf("listening on 127.0.0.1:%d\n", filch_local_port(s));
    fflush(stdout);
    accept_all(s);
    filch_close(s);
    while (server_stop_interrupted(filch_wait_group_wait(&served)))
        continue;
    if (self->end)
        self->end();
}

/* Raise the limit of descriptors: each connection needs one. */
static void raise_limit(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

int server_run(const server *s)
{
    int e;

    self = s;
    open_signals();
    raise_limit();
    filch_sem_post_n(&slots, s->max > 0 ? s->max : UINT32_MAX);
    e = filch_main(run, NULL);
    if (e < 0)
        server_fail(s->name, "cannot start the runtime", e);
    return 0;
}
