/* The system creates fewer threads than there should be workers.  The runtime starts with fewer
 * workers and says so once, or does not start if there are none. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* RTLD_NEXT */
#endif
#include "base/compiler.h"
#include "check.h"
#include "fib.h"

#include <filch/filch.h>

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define WANTED 5

static atomic_int n_threads, threads_max = 1000;

typedef int create_function(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
typedef int join_function(pthread_t, void **);

/* These replace the functions of libc. */
int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *), void *arg)
{
    create_function *create;
    void *symbol = dlsym(RTLD_NEXT, "pthread_create");

    memcpy(&create, &symbol, sizeof create);
    if (atomic_load(&n_threads) >= atomic_load(&threads_max))
        return EAGAIN;
    atomic_fetch_add(&n_threads, 1);
    return create(thread, attr, run, arg);
}

int pthread_join(pthread_t thread, void **result)
{
    join_function *join;
    void *symbol = dlsym(RTLD_NEXT, "pthread_join");

    memcpy(&join, &symbol, sizeof join);
    atomic_fetch_sub(&n_threads, 1);
    return join(thread, result);
}

static int n_messages;
static char last_message[256];

static void keep_message(filch_level level, const char *text, void *ctx)
{
    (void)ctx;
    if (level == FILCH_LEVEL_WARNING || level == FILCH_LEVEL_ERROR)
        n_messages++;
    snprintf(last_message, sizeof last_message, "%s", text);
}

static void fewer_threads(void **state)
{
    filch_config c = {.workers = WANTED};

    (void)state;
    filch_set_message_handler(keep_message, NULL);
    for (int n = 1; n <= WANTED; n++) {
        char text[64];
        atomic_store(&threads_max, n);
        n_messages = 0;
        CHECK_INT(filch_start(&c), 0);
        CHECK_INT(filch_worker_count(), n);
        CHECK_INT(n_messages, n < WANTED);
        snprintf(text, sizeof text, "workers: only %d of %d could be started", n, WANTED);
        CHECK(n == WANTED || strncmp(last_message, text, strlen(text)) == 0);
        CHECK_INT(FILCH_RUN(fib, 15), 610);
        CHECK_INT(filch_stop(), 0);
        CHECK_INT(atomic_load(&n_threads), 0);
    }
}

static void never_run(void *n)
{
    ++*(int *)n;
}

/* A start by itself that fails is reported once, and all calls give right results or errors. */
static void no_threads(void **state)
{
    int n = 0;

    (void)state;
    filch_set_message_handler(keep_message, NULL);
    atomic_store(&threads_max, 0);
    CHECK_INT(filch_start(NULL), -EAGAIN);
    n_messages = 0;
    for (int i = 0; i < 3; i++) {
        CHECK_INT(FILCH_RUN(fib, 15), 610);
        CHECK(!filch_job_new(never_run, NULL));
        CHECK_INT(filch_go(never_run, &n), -EAGAIN);
    }
    CHECK_INT(n, 0);
    CHECK_INT(n_messages, 1);
    CHECK_INT(filch_worker_count(), 0);
    atomic_store(&threads_max, 1000);
    CHECK_INT(filch_start(&(filch_config){.workers = 2}), 0);
    CHECK_INT(FILCH_RUN(fib, 15), 610);
    CHECK_INT(filch_worker_count(), 2);
    CHECK_INT(filch_stop(), 0);
}

#if FI_UNDER_ASAN || FI_UNDER_TSAN
int main(void)
{
    (void)fewer_threads, (void)no_threads;
    puts("skipped: sanitizers replace pthread_create themselves");
    return 77;
}
#else
CHECK_MAIN(fewer_threads, no_threads)
#endif
