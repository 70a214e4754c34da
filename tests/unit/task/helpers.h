/* Tests of the runtime run with 1, 2, 4 and 8 workers, on any number of CPUs. */
#ifndef TESTS_UNIT_TASK_HELPERS_H
#define TESTS_UNIT_TASK_HELPERS_H

#include "base/compiler.h"
#include "base/mem.h"
#include "check.h"
#include "lab_settings.h"

#include <filch/filch.h>

#include <stdbool.h>

/* n, or a tenth of it under a sanitizer or an emulator. */
#ifdef FILCH_EMULATED
#define IS_SLOW true
#else
#define IS_SLOW (FI_UNDER_ASAN || FI_UNDER_TSAN)
#endif
#define SCALED(n) (IS_SLOW ? (n) / 10 : (n))

/* A build of the test with FILCH_SERIAL, without the library. */
#ifdef FILCH_SERIAL
#define IS_SERIAL true
#else
#define IS_SERIAL false
#endif

/* With FILCH_CHAOS (base/chaos.h) other fibers run at random points: tests of an order or of counts
 * are skipped. */
static inline bool chaos_enabled(void)
{
#ifdef FILCH_CHAOS
    if (getenv("FILCH_CHAOS")) {
        puts("skipped: FILCH_CHAOS runs other fibers at random points");
        return true;
    }
#endif
    return false;
}

static const unsigned workers_counts[] = {1, 2, 4, 8};

/* FILCH_WORKERS=n selects one number of workers. */
static inline bool is_selected(unsigned workers)
{
    const char *text = getenv("FILCH_WORKERS");

    return !text || strtoul(text, NULL, 10) == workers;
}

#ifdef FILCH_SERIAL
/* The serial build runs a test once, on the calling thread.  SKIP_IN_SERIAL replaces a test of
 * something that it does not have. */
#define SKIP_IN_SERIAL(name, what)                                                                 \
    static void name(void **state)                                                                 \
    {                                                                                              \
        (void)state;                                                                               \
        puts("skipped: a serial build has no " what);                                              \
    }

static inline void workers_each(const filch_config *config, void (*test)(void))
{
    (void)config;
    test();
}

static inline void workers_each_with(lab_settings lab, const filch_config *config,
                                     void (*test)(void))
{
    (void)lab;
    workers_each(config, test);
}
#else
/* Run the test in a runtime of its own and check that all its memory is freed. */
static inline void workers_each(const filch_config *config, void (*test)(void))
{
    for (size_t i = 0; i < sizeof workers_counts / sizeof *workers_counts; i++) {
        filch_config c = config ? *config : (filch_config){0};
        size_t before = fi_mem_live().blocks;

        if (!is_selected(workers_counts[i]))
            continue;
        c.workers = workers_counts[i];
        CHECK_INT(filch_start(&c), 0);
        CHECK_INT(filch_worker_count(), c.workers);
        test();
        CHECK_INT(filch_stop(), 0);
        CHECK_INT(filch_worker_count(), 0);
        CHECK_INT(fi_mem_live().blocks, before);
    }
}

static inline void workers_each_with(lab_settings lab, const filch_config *config,
                                     void (*test)(void))
{
    set_lab_settings(lab);
    workers_each(config, test);
    set_lab_settings((lab_settings){0});
}
#endif

#endif
