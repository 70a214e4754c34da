/* Work that sleeps until it is cancelled. */
#ifndef TESTS_UNIT_JOB_SLEEPERS_H
#define TESTS_UNIT_JOB_SLEEPERS_H

#include <filch/fiber.h>
#include <filch/time.h>

#include <errno.h>
#include <stdatomic.h>

/* A wait that is not interrupted ends without an error, so a lost cancellation is detected. */
#define LONG FILCH_S(30)

static atomic_int started, cancelled;

static inline void reset(void)
{
    atomic_store(&started, 0);
    atomic_store(&cancelled, 0);
}

static inline void await_started(int n)
{
    while (atomic_load(&started) < n)
        filch_yield();
}

static inline int sleep_long(void *arg)
{
    int e;

    (void)arg;
    atomic_fetch_add(&started, 1);
    e = filch_sleep(LONG);
    if (e == -ECANCELED)
        atomic_fetch_add(&cancelled, 1);
    return e;
}

#endif
