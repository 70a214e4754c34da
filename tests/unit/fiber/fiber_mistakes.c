/* Handles and timers that are used wrongly end the program with a line that names the mistake. */
#include "unit/base/death.h"
#include "unit/fiber/fibers.h"

/* ---- timers ---- */

static void nothing(void *arg)
{
    (void)arg;
}

static void start_uninitialised(void)
{
    filch_timer t;

    memset(&t, 0xa5, sizeof t);
    filch_timer_start(&t, 0, nothing, NULL);
}

static void stop_uninitialised(void)
{
    filch_timer t;

    memset(&t, 0xa5, sizeof t);
    filch_timer_stop(&t);
}

static void test_timers(void **state)
{
    const char *words = "filch_timer: the timer was not initialised";

    (void)state;
    CHECK(dies_saying(start_uninitialised, words));
    CHECK(dies_saying(stop_uninitialised, words));
}

CHECK_MAIN(test_timers)
