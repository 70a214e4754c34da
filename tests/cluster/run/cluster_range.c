/* filch_cluster_for and filch_cluster_reduce in one process: each number is in exactly one part. */
#include "check.h"

#include "run/comm.h"

#include <filch/cluster.h>
#include <filch/time.h>
#include <stdatomic.h>

enum { N = 100000 };

static atomic_uchar seen[N];
static atomic_ullong grain_max;

static int mark(uint64_t lo, uint64_t hi, void *ctx)
{
    (void)ctx;
    if (hi - lo > atomic_load(&grain_max))
        atomic_store(&grain_max, hi - lo);
    for (uint64_t i = lo; i < hi; i++)
        atomic_fetch_add(&seen[i], 1);
    return 0;
}

static void marks_reset(void)
{
    for (int i = 0; i < N; i++)
        atomic_store(&seen[i], 0);
    atomic_store(&grain_max, 0);
}

/* Exactly the numbers from lo to hi - 1 were marked, once each. */
static void marks_check(uint64_t lo, uint64_t hi)
{
    for (uint64_t i = 0; i < N; i++)
        CHECK_INT(atomic_load(&seen[i]), i >= lo && i < hi);
}

static void each_number_is_in_one_part(void **state)
{
    (void)state;
    CHECK_INT(filch_cluster_start(NULL), 0);
    for (uint64_t grain = 0; grain <= 1000; grain = grain * 3 + 1) {
        marks_reset();
        CHECK_INT(filch_cluster_for(7, N - 3, grain, mark, NULL), 0);
        marks_check(7, N - 3);
        CHECK(grain == 0 || atomic_load(&grain_max) <= grain);
    }
    CHECK_INT(filch_cluster_stop(), 0);
}

static void an_empty_range_has_no_part(void **state)
{
    (void)state;
    CHECK_INT(filch_cluster_start(NULL), 0);
    marks_reset();
    CHECK_INT(filch_cluster_for(5, 5, 0, mark, NULL), 0);
    CHECK_INT(filch_cluster_for(5, 4, 0, mark, NULL), 0);
    CHECK_INT(filch_cluster_for(UINT64_MAX, 0, 10, mark, NULL), 0);
    marks_check(0, 0);
    CHECK_INT(filch_cluster_stop(), 0);
}

/* A single chunk does not move from lane to lane. */
static void a_chunk_has_one_lane(void **state)
{
    filch_cluster_config config = {.in_flight = 8};

    (void)state;
    CHECK_INT(filch_cluster_start(&config), 0);
    marks_reset();
    CHECK_INT(filch_cluster_for(0, 10, 100, mark, NULL), 0);
    marks_check(0, 10);
    CHECK_INT(fi_comm_own.lanes.started, 1);
    CHECK_INT(filch_cluster_stop(), 0);
}

static int last_two(uint64_t lo, uint64_t hi, void *ctx)
{
    atomic_fetch_add((atomic_ullong *)ctx, hi - lo);
    return hi == UINT64_MAX && lo >= UINT64_MAX - 2 ? 0 : -1;
}

static void large_numbers_do_not_overflow(void **state)
{
    atomic_ullong n = 0;

    (void)state;
    CHECK_INT(filch_cluster_start(NULL), 0);
    CHECK_INT(filch_cluster_for(UINT64_MAX - 2, UINT64_MAX, UINT64_MAX, last_two, &n), 0);
    CHECK_INT(atomic_load(&n), 2);
    CHECK_INT(filch_cluster_stop(), 0);
}

typedef struct sums {
    uint64_t count, sum;
    char padding[1000];
} sums;

static int add(uint64_t lo, uint64_t hi, void *acc, void *ctx)
{
    sums *s = acc;

    (void)ctx;
    for (uint64_t i = lo; i < hi; i++) {
        s->count++;
        s->sum += i;
    }
    return 0;
}

static void combine(void *acc, const void *other, void *ctx)
{
    sums *s = acc;
    const sums *o = other;

    (void)ctx;
    s->count += o->count;
    s->sum += o->sum;
}

static void results_are_combined(void **state)
{
    (void)state;
    CHECK_INT(filch_cluster_start(NULL), 0);
    for (uint64_t run = 0; run < 20; run++) {
        sums s = {0};

        CHECK_INT(filch_cluster_reduce(1, 1000001, run, &s, sizeof s, add, combine, NULL), 0);
        CHECK_INT(s.count, 1000000);
        CHECK_INT(s.sum, 500000500000);
    }
    CHECK_INT(filch_cluster_stop(), 0);
}

static int fail_at(uint64_t lo, uint64_t hi, void *ctx)
{
    (void)lo;
    (void)ctx;
    return hi > N / 2 ? 42 : 0;
}

static void a_result_ends_the_run(void **state)
{
    (void)state;
    CHECK_INT(filch_cluster_start(NULL), 0);
    CHECK_INT(filch_cluster_for(0, N, 10, fail_at, NULL), 42);
    marks_reset();
    CHECK_INT(filch_cluster_for(0, N, 10, mark, NULL), 0); /* the next run is not affected */
    marks_check(0, N);
    CHECK_INT(filch_cluster_stop(), 0);
}

typedef struct flight {
    atomic_int now, max;
} flight;

static int wait_in_flight(uint64_t lo, uint64_t hi, void *ctx)
{
    flight *f = ctx;
    int n = atomic_fetch_add(&f->now, 1) + 1;

    (void)lo;
    (void)hi;
    if (n > atomic_load(&f->max))
        atomic_store(&f->max, n);
    filch_sleep(FILCH_MS(1));
    atomic_fetch_sub(&f->now, 1);
    return 0;
}

/* All items wait at once, because each waits until all do. */
static int wait_for_all(uint64_t lo, uint64_t hi, void *ctx)
{
    flight *f = ctx;

    (void)lo;
    (void)hi;
    atomic_fetch_add(&f->now, 1);
    while (atomic_load(&f->now) < 8)
        filch_sleep(FILCH_US(100));
    return 0;
}

static void in_flight_limits_the_items(void **state)
{
    filch_cluster_config config = {.in_flight = 8};
    flight f = {0};

    (void)state;
    CHECK_INT(filch_cluster_start(&config), 0);
    CHECK_INT(filch_cluster_for(0, 200, 1, wait_in_flight, &f), 0);
    CHECK(atomic_load(&f.max) <= 8);
    CHECK_INT(filch_cluster_for(0, 8, 1, wait_for_all, &f), 0);
    CHECK_INT(filch_cluster_stop(), 0);
}

CHECK_MAIN(each_number_is_in_one_part, an_empty_range_has_no_part, a_chunk_has_one_lane,
           large_numbers_do_not_overflow, results_are_combined, a_result_ends_the_run,
           in_flight_limits_the_items)
