/* The names of the counters. */
#include <filch/stats.h>

#include <stddef.h>
#include <string.h>

typedef struct counter {
    const char *name;
    size_t offset;
} counter;

#define COUNTER(name)                                                                              \
    {                                                                                              \
#name, offsetof(filch_counters, name)                                                      \
    }
static const counter counters[] = {
    COUNTER(spawned),
    COUNTER(run_inline),
    COUNTER(published),
    COUNTER(claimed_back),
    COUNTER(steals_single),
    COUNTER(steals_multiple),
    COUNTER(steals_failed),
    COUNTER(stolen),
    COUNTER(deque_pushes),
    COUNTER(deque_pops),
    COUNTER(deque_pops_failed),
    COUNTER(deque_steals_single),
    COUNTER(deque_steals_single_failed),
    COUNTER(deque_steals_multiple),
    COUNTER(deque_steals_multiple_failed),
    COUNTER(deque_stolen),
    COUNTER(deque_resizes),
    COUNTER(deque_bottom_incs),
    COUNTER(deque_bottom_decs),
    COUNTER(parks),
    COUNTER(wakes),
    COUNTER(sleeps),
    COUNTER(searches),
    COUNTER(jobs),
    COUNTER(fibers),
    COUNTER(long_runs),
    COUNTER(fibers_created),
    COUNTER(fibers_reused),
};
enum { COUNTERS = sizeof counters / sizeof *counters };

_Static_assert(sizeof(filch_counters) == COUNTERS * sizeof(uint64_t), "a counter has no name");

const char *filch_counter_name(unsigned which)
{
    return which < COUNTERS ? counters[which].name : NULL;
}

/* A counter behind the end of a smaller struct, of a program with an older header, is 0. */
uint64_t filch_counter_value_(const filch_counters *of, size_t size, unsigned which)
{
    uint64_t value = 0;

    if (which < COUNTERS && counters[which].offset + sizeof value <= size)
        memcpy(&value, (const char *)of + counters[which].offset, sizeof value);
    return value;
}
