/* Names that take long to be looked up: nobody has to wait for that longer than he wants. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* RTLD_NEXT */
#endif
#include "unit/io/helpers.h"

#include "base/mem.h"

#include <dlfcn.h>
#include <netdb.h>
#include <string.h>

/* ---- a look-up that is as slow as we want, in place of the system's ---- */

static atomic_bool shut;              /* it does not answer yet */
static atomic_int asked, told, freed; /* for a slow name */
static struct addrinfo *_Atomic slow_answer;

static int ask_system(const char *host, const char *port, const struct addrinfo *hints,
                      struct addrinfo **answer)
{
    int (*next)(const char *, const char *, const struct addrinfo *, struct addrinfo **);

    *(void **)(void *)&next = dlsym(RTLD_NEXT, "getaddrinfo");
    return next(host, port, hints, answer);
}

int getaddrinfo(const char *host, const char *port, const struct addrinfo *hints,
                struct addrinfo **answer)
{
    int e;

    if (!host || strcmp(host, "slow.test") != 0)
        return ask_system(host, port, hints, answer);
    if (hints->ai_flags & AI_NUMERICHOST)
        return EAI_NONAME;
    atomic_fetch_add(&asked, 1);
    while (atomic_load(&shut))
        sched_yield();
    e = ask_system("127.0.0.1", port, hints, answer);
    atomic_store(&slow_answer, *answer);
    atomic_fetch_add(&told, 1);
    return e;
}

void freeaddrinfo(struct addrinfo *a)
{
    void (*next)(struct addrinfo *);

    if (atomic_load(&slow_answer) == a)
        atomic_fetch_add(&freed, 1);
    *(void **)(void *)&next = dlsym(RTLD_NEXT, "freeaddrinfo");
    next(a);
}

static void begin(bool is_shut)
{
    atomic_store(&shut, is_shut);
    atomic_store(&asked, 0);
    atomic_store(&told, 0);
    atomic_store(&freed, 0);
}

/* By the thread, once it is done. */
static void await_freed(int n)
{
    atomic_store(&shut, false);
    while (atomic_load(&freed) < n)
        sched_yield();
    CHECK_INT(atomic_load(&asked), n);
    CHECK_INT(atomic_load(&told), n);
}

/* ---- tests ---- */

static void *connect_slowly(void *arg)
{
    return (void *)(intptr_t)filch_connect_until("slow.test", (int)(intptr_t)arg, FILCH_FOREVER);
}

static void *connect_until_now(void *arg)
{
    return (void *)(intptr_t)filch_connect_until("slow.test", (int)(intptr_t)arg,
                                                 filch_now() + FILCH_MS(1));
}

static void *listen_slowly(void *arg)
{
    return (void *)(intptr_t)filch_listen("slow.test", (int)(intptr_t)arg, 1);
}

/* Whoever waits gets the answer. */
static void answered(void)
{
    int s = filch_listen("127.0.0.1", 0, 4), fd;

    begin(false);
    CHECK(s >= 0);
    fd = (int)(intptr_t)on_fiber(connect_slowly, (void *)(intptr_t)filch_local_port(s));
    CHECK(fd >= 0);
    CHECK_INT(atomic_load(&freed), 1);
    CHECK_INT(filch_close(fd), 0);
    CHECK_INT(filch_close(s), 0);
}

static void late(void)
{
    begin(true);
    CHECK_INT((intptr_t)on_fiber(connect_until_now, (void *)80), -ETIMEDOUT);
    atomic_store(&shut, false); /* maybe a thread is about to ask: the stop waits for it */
}

static void *cancel(void *(*body)(void *))
{
    filch_fiber *f = filch_fiber_start(body, (void *)80);
    void *result = NULL;

    while (atomic_load(&asked) == 0)
        sched_yield();
    CHECK_INT(atomic_load(&told), 0);
    filch_fiber_cancel(f);
    CHECK_INT(filch_fiber_join(f, &result), 0);
    return result;
}

static void cancelled(void)
{
    begin(true);
    CHECK_INT((intptr_t)cancel(connect_slowly), -ECANCELED);
    await_freed(1);
    begin(true);
    CHECK_INT((intptr_t)cancel(listen_slowly), -ECANCELED);
    await_freed(1);
}

#define OTHERS 5

/* One thread is busy with the first; the others give up before their turn, and are not asked for. */
static void given_up_in_line(void)
{
    filch_fiber *f, *other[OTHERS];
    void *result = NULL;

    begin(true);
    f = filch_fiber_start(connect_slowly, (void *)80);
    while (atomic_load(&asked) == 0)
        sched_yield();
    for (int i = 0; i < OTHERS; i++)
        other[i] = filch_fiber_start(connect_until_now, (void *)80);
    for (int i = 0; i < OTHERS; i++) {
        CHECK_INT(filch_fiber_join(other[i], &result), 0);
        CHECK_INT((intptr_t)result, -ETIMEDOUT);
    }
    filch_fiber_cancel(f);
    CHECK_INT(filch_fiber_join(f, &result), 0);
    CHECK_INT((intptr_t)result, -ECANCELED);
    await_freed(1);
}

static void test_given_up_in_line(void **state)
{
    (void)state;
    workers_each(&(filch_config){.blocking_threads = 1}, given_up_in_line);
}

/* The answer and the deadline come at the same time: one of the two owns what was found, and nobody leaks it. */
static void *race(void *arg)
{
    for (int i = 0; i < 200; i++) {
        int fd = filch_connect_until("slow.test", 1, filch_now() + FILCH_US(i % 20 * 5));
        CHECK(fd == -ETIMEDOUT || fd == -ECONNREFUSED);
    }
    return arg;
}

static void races(void)
{
    begin(false);
    on_fiber(race, NULL);
}

WITH_WORKERS(answered)
WITH_WORKERS(late)
WITH_WORKERS(cancelled)
WITH_WORKERS(races)

CHECK_MAIN(test_answered, test_late, test_cancelled, test_given_up_in_line, test_races)
