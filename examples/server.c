/* Accept connections, run each in a group, and stop on a signal. */
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

static const server *self;
static int signals;
static filch_fiber *acceptor;
static filch_sem slots;
static filch_group connections = FILCH_GROUP_INIT;
static filch_group late = FILCH_GROUP_INIT; /* accepted during the stop */
static filch_wait_group starting; /* connections that have not begun, and stop_on_signal */

static atomic_bool stopping;
static int64_t stop_by; /* written before `stopping` */

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

/* [acceptor] A connection that has not started would be dropped with the cancelled group.  The
 * acceptor was cancelled as well.  This must be over before it waits for `late`, because a cancelled
 * fiber passes its cancellation on to the group that it waits for. */
static void interrupt_connections(void)
{
    while (server_stop_interrupted(filch_wait_group_wait(&starting)))
        continue;
    filch_fiber_uncancel();
    filch_group_cancel(&connections);
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
    filch_wait_group_done(&starting);
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

static void connection_end(int fd)
{
    filch_close(fd);
    filch_sem_post(&slots);
}

static void connection_body(void *arg)
{
    int fd = (int)(intptr_t)arg;

    filch_wait_group_done(&starting);
    filch_fiber_set_name("connection");
    self->serve(fd);
    connection_end(fd);
}

static void connection_start(filch_group *group, int fd)
{
    filch_wait_group_add(&starting, 1);
    if (filch_group_run(group, connection_body, (void *)(intptr_t)fd) == 0)
        return;
    filch_wait_group_done(&starting);
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
    filch_group *group = &connections;

    for (;;) {
        bool last = server_is_stopping();
        if (last && group == &connections) {
            interrupt_connections();
            group = &late;
        }
        int fd = accept_one(s, last);
        if (fd >= 0)
            connection_start(group, fd);
        else if (last && (fd == -ETIMEDOUT || filch_now() >= stop_by))
            return;
        else if (!server_stop_interrupted(fd))
            filch_sleep(PAUSE);
    }
}

static int run(int argc, char **argv)
{
    int s = filch_listen("127.0.0.1", self->port, SOMAXCONN);

    (void)argc, (void)argv;
    if (s < 0)
        server_fail(self->name, "cannot listen", s);
    acceptor = filch_fiber_self();
    filch_wait_group_add(&starting, 1);
    if (!acceptor || filch_go(stop_on_signal, NULL) < 0)
        server_fail(self->name, "cannot start", -ENOMEM);
    if (self->begin)
        self->begin();
    printf("listening on 127.0.0.1:%d\n", filch_local_port(s));
    fflush(stdout);
    accept_all(s);
    filch_close(s);
    filch_group_wait(&connections);
    filch_group_wait(&late);
    if (self->end)
        self->end();
    return 0;
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
    const filch_config config = {.stack_size = s->stack_size};
    int e;

    self = s;
    open_signals();
    raise_limit();
    filch_sem_post_n(&slots, s->max > 0 ? s->max : UINT32_MAX);
    e = filch_start(&config);
    if (e < 0)
        server_fail(s->name, "cannot start the runtime", e);
    e = filch_main(run, 0, NULL);
    filch_stop();
    return e;
}
