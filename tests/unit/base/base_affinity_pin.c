/* Counting CPUs while a thread, or the process, is pinned to one. */
#define _GNU_SOURCE
#include "check.h"

#include <errno.h>
#include <filch/runtime.h>
#include <pthread.h>
#include <sched.h>

static cpu_set_t before;

/* Runs first: the other tests need this. */
static void test_pinning_is_possible(void **state)
{
    (void)state;
    if (sched_getaffinity(0, sizeof before, &before) == 0 &&
        sched_setaffinity(0, sizeof before, &before) == 0)
        return;
    printf("skipped: cannot pin a thread: %s\n", strerror(errno));
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

/* The count of CPUs does not depend on the mask of the calling thread. */
static void test_pinned_thread(void **state)
{
    unsigned all = filch_cpu_count(), pinned = 0;
    pthread_t thread;

    (void)state;
    CHECK_INT(pthread_create(&thread, NULL, count_while_pinned, &pinned), 0);
    pthread_join(thread, NULL);
    CHECK_INT(pinned, all);
}

/* As with taskset: the mask of the main thread is the mask of the process. */
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
