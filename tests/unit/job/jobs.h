/* Helpers of the tests of jobs. */
#ifndef TESTS_UNIT_JOB_JOBS_H
#define TESTS_UNIT_JOB_JOBS_H

#include "unit/task/helpers.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int ticks;

/* Store the position in the order of execution: 1 is the first. */
static inline void stamp(void *when)
{
    *(int *)when = atomic_fetch_add(&ticks, 1) + 1;
}

static inline void nothing(void *arg)
{
    (void)arg;
}

static inline int end_with(void *error)
{
    return *(int *)error;
}

/* test_NAME runs NAME with 1, 2, 4 and 8 workers. */
#define WITH_WORKERS(name)                                                                         \
    static void test_##name(void **state)                                                          \
    {                                                                                              \
        (void)state;                                                                               \
        atomic_store(&ticks, 0);                                                                   \
        workers_each(NULL, name);                                                                  \
    }

#endif
