/* Parallelism and bounds of the speedup, computed from work and span. */
#include "check.h"

#include "scale.h"

static bool is_about(double value, double wanted)
{
    return value > wanted * 0.999999 && value < wanted * 1.000001;
}

static scale_sums read_sums(const char *text)
{
    scale_sums s = {0};

    CHECK(scale_read(text, &s));
    return s;
}

#define LINE                                                                                       \
    "{\"work_ns\":12000000000,\"span_ns\":2000000000,\"burdened_span_ns\":3000000000,\"burden_"    \
    "ns\":3000,"                                                                                   \
    "\"spawns\":7,\"pieces\":2,\"clock_reads\":%s,\"clock_read_ns\":24,\"elapsed_ns\":"            \
    "13000000000}"

static scale_sums with_clock_reads(const char *clock_reads)
{
    char text[512];

    snprintf(text, sizeof text, LINE, clock_reads);
    return read_sums(text);
}

static void work_by_span(void **state)
{
    scale_sums s = with_clock_reads("100");

    (void)state;
    CHECK(is_about(scale_parallelism(&s), 6));
    CHECK(is_about(scale_burdened_parallelism(&s), 4));
}

/* 12 s of work, 2 s of them span.  The other 10 s are shared by the workers.  The burden adds 1
 * s. */
static void bounds(void **state)
{
    scale_sums s = with_clock_reads("100");

    (void)state;
    CHECK(is_about(scale_speedup_max(&s, 1), 1));
    CHECK(is_about(scale_speedup_min(&s, 1), 1));
    CHECK(is_about(scale_speedup_max(&s, 2), 2));
    CHECK(is_about(scale_speedup_min(&s, 2), 12.0 / (10.0 / 2 + 3)));
    CHECK(is_about(scale_speedup_max(&s, 100), 6));
    CHECK(is_about(scale_speedup_min(&s, 100), 12.0 / (10.0 / 100 + 3)));
}

static void a_run_without_work_has_no_parallelism(void **state)
{
    scale_sums s = {0};

    (void)state;
    CHECK(is_about(scale_parallelism(&s), 1));
    CHECK(!scale_is_rough(&s));
}

/* A read of the clock takes 24 ns. */
static void too_short_pieces_are_detected(void **state)
{
    scale_sums fine = with_clock_reads("400000000"), rough = with_clock_reads("600000000");

    (void)state;
    CHECK(!scale_is_rough(&fine));
    CHECK(scale_is_rough(&rough));
}

static void the_shorter_of_two_runs_counts(void **state)
{
    scale_sums s = with_clock_reads("100"),
               other = {.work = 11, .span = 4, .burdened_span = 5, .elapsed = 9};

    (void)state;
    scale_keep_shorter(&s, &other);
    CHECK(is_about(s.work, 11));
    CHECK(is_about(s.span, 2));
    CHECK(is_about(s.burdened_span, 3));
}

static void invalid_lines_are_refused(void **state)
{
    scale_sums s;

    (void)state;
    CHECK(!scale_read("", &s));
    CHECK(!scale_read("{}", &s));
    CHECK(!scale_read("{\"work_ns\":1}", &s));
}

CHECK_MAIN(work_by_span, bounds, a_run_without_work_has_no_parallelism,
           too_short_pieces_are_detected, the_shorter_of_two_runs_counts, invalid_lines_are_refused)
