/* Changes of size with known frequencies. */
#include "check.h"

#include "lab/transitions.h"

#include <math.h>

/* Equal to ten digits. */
#define CHECK_NEAR(a, b) CHECK(fabs((a) - (b)) < 1e-10)

static double sum_of(const transitions *c)
{
    return transitions_probability(c, 0) + transitions_beyond(c, 0);
}

static void check(const transitions *c, double m2, double m1, double zero, double p1, double p2)
{
    CHECK_NEAR(transitions_probability(c, -2), m2);
    CHECK_NEAR(transitions_probability(c, -1), m1);
    CHECK_NEAR(transitions_probability(c, 0), zero);
    CHECK_NEAR(transitions_probability(c, 1), p1);
    CHECK_NEAR(transitions_probability(c, 2), p2);
    CHECK_NEAR(sum_of(c), 1);
}

static void no_samples(void **state)
{
    transitions c;

    (void)state;
    transitions_begin(&c, 100, 5, 3);
    CHECK_NEAR(transitions_probability(&c, 0), 0);
    CHECK_NEAR(sum_of(&c), 0);
}

static void a_constant_size(void **state)
{
    transitions c;

    (void)state;
    transitions_begin(&c, 100, 1000, 7);
    for (uint64_t t = 1100; t <= 2000; t += 100)
        transitions_add(&c, t, 7);
    check(&c, 0, 0, 1, 0, 0);
    CHECK_NEAR(c.steps, 10);
}

/* Alternately up and down by one, with a sample in each step. */
static void up_and_down(void **state)
{
    transitions c;

    (void)state;
    transitions_begin(&c, 100, 0, 0);
    for (uint64_t i = 1; i <= 100; i++)
        transitions_add(&c, i * 100, (int64_t)(i % 2));
    check(&c, 0, 0.5, 0, 0.5, 0);
}

/* The same, sampled only every second step: the size seems constant. */
static void up_and_down_too_fast(void **state)
{
    transitions c;

    (void)state;
    transitions_begin(&c, 100, 0, 0);
    for (uint64_t i = 2; i <= 100; i += 2)
        transitions_add(&c, i * 100, (int64_t)(i % 2));
    check(&c, 0, 0, 1, 0, 0);
}

/* +1 in each of 4 steps, then -3 in one. */
static void a_ramp_and_a_steal(void **state)
{
    transitions c;

    (void)state;
    transitions_begin(&c, 10, 0, 0);
    for (int64_t i = 1; i <= 4; i++)
        transitions_add(&c, (uint64_t)i * 10, i);
    transitions_add(&c, 50, 1);
    check(&c, 0, 0, 0, 0.8, 0);
    CHECK_NEAR(transitions_probability(&c, -3), 0.2);
    CHECK_NEAR(transitions_beyond(&c, 2), 0.2);
}

/* +1 in 4 steps counts as a quarter in each. */
static void a_gap(void **state)
{
    transitions c;

    (void)state;
    transitions_begin(&c, 100, 0, 0);
    transitions_add(&c, 400, 1);
    check(&c, 0, 0, 0.75, 0.25, 0);
    CHECK_NEAR(c.steps, 4);
}

/* -3 in 2 steps is -1.5 in each: 0.75 changes by -2, and 0.25 steps without one. */
static void a_gap_of_several(void **state)
{
    transitions c;

    (void)state;
    transitions_begin(&c, 100, 0, 3);
    transitions_add(&c, 200, 0);
    check(&c, 0.75, 0, 0.25, 0, 0);
}

/* Changes within a step count for the next one. */
static void samples_closer_than_the_grid(void **state)
{
    transitions c;

    (void)state;
    transitions_begin(&c, 100, 0, 0);
    transitions_add(&c, 30, 1);
    transitions_add(&c, 60, 5);
    transitions_add(&c, 99, 2);
    CHECK_NEAR(c.steps, 0);
    transitions_add(&c, 100, 2);
    transitions_add(&c, 150, 9);
    transitions_add(&c, 200, 2);
    check(&c, 0, 0, 0.5, 0, 0.5);
}

static void changes_beyond_the_range_share_an_entry(void **state)
{
    transitions c;

    (void)state;
    transitions_begin(&c, 1, 0, 0);
    transitions_add(&c, 1, 1000);
    transitions_add(&c, 2, 0);
    CHECK_NEAR(transitions_probability(&c, TRANSITIONS_MAX), 0.5);
    CHECK_NEAR(transitions_probability(&c, -TRANSITIONS_MAX), 0.5);
    CHECK_NEAR(transitions_beyond(&c, 2), 1);
}

/* A time stamp that is earlier than the previous one is tolerated. */
static void time_that_goes_back(void **state)
{
    transitions c;

    (void)state;
    transitions_begin(&c, 100, 1000, 0);
    transitions_add(&c, 1100, 1);
    transitions_add(&c, 900, 50);
    transitions_add(&c, 1050, 50);
    transitions_add(&c, 1200, 1);
    check(&c, 0, 0, 0.5, 0.5, 0);
}

/* An interval without known sizes. */
static void skipped_intervals_do_not_count(void **state)
{
    transitions c;

    (void)state;
    transitions_begin(&c, 100, 0, 0);
    transitions_add(&c, 100, 1);
    transitions_skip(&c, 5050, 70);
    transitions_add(&c, 5149, 90);
    transitions_add(&c, 5150, 69);
    check(&c, 0, 0.5, 0, 0.5, 0);
    CHECK_NEAR(c.steps, 2);
}

/* Sizes from the counters of a deque.  The owner of a FIFO pops at the top, so B- does not change,
 * and T counts pops and steals. */
typedef struct counted {
    uint32_t up, down, top;
} counted;

static int64_t size_of(counted c)
{
    return (int32_t)(c.up - c.down - c.top);
}

static void a_fifo_and_a_lifo_have_the_same_size(void **state)
{
    static const counted lifo[] = {{0, 0, 0}, {3, 0, 0}, {3, 1, 0}, {3, 1, 2}, {4, 2, 2}};
    static const counted fifo[] = {{0, 0, 0}, {3, 0, 0}, {3, 0, 1}, {3, 0, 3}, {4, 0, 4}};
    transitions a, b;

    (void)state;
    transitions_begin(&a, 1, 0, size_of(lifo[0]));
    transitions_begin(&b, 1, 0, size_of(fifo[0]));
    for (int i = 1; i < 5; i++) {
        transitions_add(&a, (uint64_t)i, size_of(lifo[i]));
        transitions_add(&b, (uint64_t)i, size_of(fifo[i]));
    }
    check(&a, 0.25, 0.25, 0.25, 0, 0);
    check(&b, 0.25, 0.25, 0.25, 0, 0);
    CHECK_NEAR(transitions_probability(&b, 3), 0.25);
}

static void counters_that_wrap(void **state)
{
    counted before = {UINT32_MAX, 5, UINT32_MAX - 6}, after = {1, 5, UINT32_MAX - 6};
    transitions c;

    (void)state;
    CHECK_INT(size_of(before), 1);
    transitions_begin(&c, 1, 0, size_of(before));
    transitions_add(&c, 1, size_of(after));
    check(&c, 0, 0, 0, 0, 1);
}

CHECK_MAIN(no_samples, a_constant_size, up_and_down, up_and_down_too_fast, a_ramp_and_a_steal,
           a_gap, a_gap_of_several, samples_closer_than_the_grid,
           changes_beyond_the_range_share_an_entry, time_that_goes_back,
           skipped_intervals_do_not_count, a_fifo_and_a_lifo_have_the_same_size, counters_that_wrap)
