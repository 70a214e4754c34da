/* Slow lookups of host names: a deadline or a cancellation ends the wait. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* RTLD_NEXT */
#endif
#include "unit/io/helpers.h"

#include "base/mem.h"

#include <dlfcn.h>
#include <netdb.h>
#include <string.h>

/* ---- a slow version of getaddrinfo ---- */

static atomic_bool is_blocked;                   /* lookups of slow names do not end */
static atomic_int n_lookups, n_results, n_freed; /* of slow names */
static struct addrinfo *_Atomic slow_answer;

static int system_getaddrinfo(const char *host, const char *port, const struct addrinfo *hints,
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
        return system_getaddrinfo(host, port, hints, answer);
    if (hints->ai_flags & AI_NUMERICHOST)
        return EAI_NONAME;
    atomic_fetch_add(&n_lookups, 1);
    while (atomic_load(&is_blocked))
        sched_yield();
    e = system_getaddrinfo("127.0.0.1", port, hints, answer);
    atomic_store(&slow_answer, *answer);
    atomic_fetch_add(&n_results, 1);
    return e;
}

void freeaddrinfo(struct addrinfo *a)
{
    void (*next)(struct addrinfo *);

    if (atomic_load(&slow_answer) == a)
        atomic_fetch_add(&n_freed, 1);
    *(void **)(void *)&next = dlsym(RTLD_NEXT, "freeaddrinfo");
    next(a);
}

static void lookups_begin(bool blocked)
{
    atomic_store(&is_blocked, blocked);
    atomic_store(&n_lookups, 0);
    atomic_store(&n_results, 0);
    atomic_store(&n_freed, 0);
}

/* The thread frees the result of an abandoned lookup. */
static void await_freed(int n)
{
    atomic_store(&is_blocked, false);
    while (atomic_load(&n_freed) < n)
        sched_yield();
    CHECK_INT(atomic_load(&n_lookups), n);
    CHECK_INT(atomic_load(&n_results), n);
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

static void *look_up_slowly(void *arg)
{
    struct addrinfo *list = NULL;
    int e = filch_getaddrinfo("slow.test", NULL, &(struct addrinfo){0}, &list);

    (void)arg;
    CHECK((e == 0) == (list != NULL));
    if (list)
        freeaddrinfo(list);
    return (void *)(intptr_t)e;
}

static void *look_up_until_now(void *arg)
{
    struct addrinfo *list = NULL;
    int e = filch_getaddrinfo_until("slow.test", NULL, &(struct addrinfo){0}, &list,
                                    filch_now() + FILCH_MS(1));

    (void)arg;
    CHECK(list == NULL);
    return (void *)(intptr_t)e;
}

/* A caller without a deadline gets the result. */
static void lookup_succeeds(void)
{
    int s = filch_listen("127.0.0.1", 0, 4), fd;

    lookups_begin(false);
    CHECK(s >= 0);
    fd = (int)(intptr_t)on_fiber(connect_slowly, (void *)(intptr_t)filch_local_port(s));
    CHECK(fd >= 0);
    CHECK_INT(atomic_load(&n_freed), 1);
    CHECK_INT(filch_close(fd), 0);
    CHECK_INT(filch_close(s), 0);
    CHECK_INT((intptr_t)on_fiber(look_up_slowly, NULL), 0);
    CHECK_INT((intptr_t)in_thread(look_up_slowly, NULL), 0);
    CHECK_INT(atomic_load(&n_freed), 3);
}

static void lookup_deadline(void)
{
    lookups_begin(true);
    CHECK_INT((intptr_t)on_fiber(connect_until_now, (void *)80), -ETIMEDOUT);
    CHECK_INT((intptr_t)on_fiber(look_up_until_now, NULL), -ETIMEDOUT);
    atomic_store(&is_blocked, false); /* filch_stop waits for lookups that are about to begin */
}

static void *cancel(void *(*body)(void *))
{
    filch_fiber *f = filch_fiber_start(body, (void *)80);
    void *result = NULL;

    while (atomic_load(&n_lookups) == 0)
        sched_yield();
    CHECK_INT(atomic_load(&n_results), 0);
    filch_fiber_cancel(f);
    CHECK_INT(filch_fiber_join(f, &result), 0);
    return result;
}

static void lookup_cancelled(void)
{
    lookups_begin(true);
    CHECK_INT((intptr_t)cancel(connect_slowly), -ECANCELED);
    await_freed(1);
    lookups_begin(true);
    CHECK_INT((intptr_t)cancel(listen_slowly), -ECANCELED);
    await_freed(1);
    lookups_begin(true);
    CHECK_INT((intptr_t)cancel(look_up_slowly), -ECANCELED);
    await_freed(1);
}

#define OTHERS 5

/* The only thread is busy with the first lookup.  The others are abandoned in the queue, and
 * never run. */
static void abandoned_in_queue(void)
{
    filch_fiber *f, *other[OTHERS];
    void *result = NULL;

    lookups_begin(true);
    f = filch_fiber_start(connect_slowly, (void *)80);
    while (atomic_load(&n_lookups) == 0)
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

static void test_abandoned_in_queue(void **state)
{
    (void)state;
    workers_each(&(filch_config){.blocking_threads = 1}, abandoned_in_queue);
}

/* The result and the deadline come at the same time.  Either the caller or the thread frees the
 * result. */
static void *race(void *arg)
{
    for (int i = 0; i < 200; i++) {
        int fd = filch_connect_until("slow.test", 1, filch_now() + FILCH_US(i % 20 * 5));
        CHECK(fd == -ETIMEDOUT || fd == -ECONNREFUSED);
    }
    return arg;
}

static void result_and_deadline_race(void)
{
    lookups_begin(false);
    on_fiber(race, NULL);
}

WITH_WORKERS(lookup_succeeds)
WITH_WORKERS(lookup_deadline)
WITH_WORKERS(lookup_cancelled)
WITH_WORKERS(result_and_deadline_race)

CHECK_MAIN(test_lookup_succeeds, test_lookup_deadline, test_lookup_cancelled,
           test_abandoned_in_queue, test_result_and_deadline_race)
