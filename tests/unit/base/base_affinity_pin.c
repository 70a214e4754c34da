/* Counting CPUs while a thread, or the process, is pinned to one. */
#define _GNU_SOURCE
#include "check.h"

#include <errno.h>
#include <filch/runtime.h>
#include <pthread.h>
#include <sched.h>

static cpu_set_t before;

/* First of all: what the other tests need. */
static void test_pinning_is_possible(void **state)
{
    (void)state;
    if (sched_getaffinity(0, sizeof before, &before) == 0 &&
        sched_setaffinity(0, sizeof before, &before) == 0)
        return;
    printf("this machine does not let us pin a thread: %s\n", strerror(errno));
    exit(77);
}

static void pin_to_first(void)
{
    cpu_set_t one;
    size_t first = 0;

    while (!CPU_ISSET(first, &before))
        first++;
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    CHECK_INT(sched_setaffinity(0, sizeof one, &one), 0);
}

static void *count_while_pinned(void *arg)
{
    pin_to_first();
    *(unsigned *)arg = filch_cpu_count();
    return NULL;
}

/* A pinned worker does not take its one CPU for all of them. */
static void test_pinned_thread(void **state)
{
    unsigned all = filch_cpu_count(), pinned = 0;
    pthread_t thread;

    (void)state;
    CHECK_INT(pthread_create(&thread, NULL, count_while_pinned, &pinned), 0);
    pthread_join(thread, NULL);
    CHECK_INT(pinned, all);
}

/* taskset and its like: the main thread's mask is the process's. */
static void test_pinned_process(void **state)
{
    unsigned all = filch_cpu_count();

    (void)state;
    pin_to_first();
    CHECK_INT(filch_cpu_count(), 1);
    CHECK_INT(sched_setaffinity(0, sizeof before, &before), 0);
    CHECK_INT(filch_cpu_count(), all);
}

CHECK_MAIN(test_pinning_is_possible, test_pinned_thread, test_pinned_process)
