/* A scan equals a serial one.  Inexact sums have the same bits with any number of workers. */
#include "unit/algo/ordered_op.h"
#include "unit/task/helpers.h"

#include <errno.h>
#include <stdatomic.h>

#define N 300000 /* many segments for each worker */

static double value[N], result[N];

static void add_up(size_t lo, size_t hi, void *acc, void *ctx)
{
    (void)ctx;
    for (size_t i = lo; i < hi; i++)
        *(double *)acc += value[i];
}

static void add(void *acc, const void *other, void *ctx)
{
    (void)ctx;
    *(double *)acc += *(const double *)other;
}

static void write_sums(size_t lo, size_t hi, void *acc, void *ctx)
{
    double *sum = acc;

    (void)ctx;
    for (size_t i = lo; i < hi; i++) {
        *sum += value[i];
        result[i] = *sum;
    }
}

static uint64_t hash_of(const double *v, size_t n)
{
    uint64_t hash = 0;

    for (size_t i = 0; i < n; i++) {
        uint64_t bits;

        memcpy(&bits, &v[i], sizeof bits);
        hash = (hash ^ bits) * 0x9E3779B97F4A7C15u;
    }
    return hash;
}

static int is_near(double a, double b)
{
    return a > b - 1e-9 && a < b + 1e-9;
}

typedef void part_function(size_t lo, size_t hi, void *acc, void *ctx);

/* The sums of `start` and the elements. */
static uint64_t hash_sums_by(part_function *map, part_function *write, size_t n, size_t grain,
                             double start)
{
    double acc = start, serial = start, zero = 0;

    memset(result, 0, sizeof result);
    CHECK_INT(filch_scan(0, n, grain, &acc, &zero, sizeof acc, map, add, write, NULL), 0);
    for (size_t i = 0; i < n; i++) {
        serial += value[i];
        CHECK(is_near(result[i], serial));
    }
    CHECK(is_near(acc, serial));
    return hash_of(result, N) ^ hash_of(&acc, 1);
}

static uint64_t hash_sums(size_t n, size_t grain, double start)
{
    return hash_sums_by(add_up, write_sums, n, grain, start);
}

static uint64_t hashes[4][4];
static int run_number;

static void add_all(void)
{
    uint64_t *h = hashes[run_number++];

    for (int i = 0; i < 5; i++) {
        h[0] = hash_sums(N, 0, 0);
        h[1] = hash_sums(N, 7, 0.1);
        h[2] = hash_sums(N - 1, 1000, -3);
        h[3] = hash_sums(3000, 0, 100);
    }
}

static void set_values(void)
{
    for (int i = 0; i < N; i++)
        value[i] = 1.0 / (i + 1);
}

static void same_bits_for_any_workers(void **state)
{
    (void)state;
    set_values();
    run_number = 0;
    workers_each(NULL, add_all);
    for (int i = 1; i < run_number; i++)
        CHECK(memcmp(hashes[0], hashes[i], sizeof hashes[0]) == 0);
}

/* ---- parts that wait: later parts are mapped and written meanwhile ---- */

#ifdef FILCH_SERIAL
SKIP_IN_SERIAL(same_bits_if_parts_wait, "sleep")
#else
#define WAIT_GRAIN 100

static void add_up_late(size_t lo, size_t hi, void *acc, void *ctx)
{
    if (lo / WAIT_GRAIN % 37 == 5)
        filch_sleep(FILCH_US(50));
    add_up(lo, hi, acc, ctx);
}

static void write_sums_late(size_t lo, size_t hi, void *acc, void *ctx)
{
    if (lo / WAIT_GRAIN % 53 == 7)
        filch_sleep(FILCH_US(50));
    write_sums(lo, hi, acc, ctx);
}

static void add_all_late(void)
{
    uint64_t hash = hash_sums(N, WAIT_GRAIN, 1);

    CHECK(hash_sums_by(add_up_late, write_sums, N, WAIT_GRAIN, 1) == hash);
    CHECK(hash_sums_by(add_up, write_sums_late, N, WAIT_GRAIN, 1) == hash);
    CHECK(hash_sums_by(add_up_late, write_sums_late, N, WAIT_GRAIN, 1) == hash);
}

static void same_bits_if_parts_wait(void **state)
{
    (void)state;
    set_values();
    workers_each(NULL, add_all_late);
}
#endif

/* ---- an operation that is not commutative ---- */

#define ELEMENTS 3000

static struct {
    size_t before[ELEMENTS]; /* number of elements before each */
    int times[ELEMENTS];
    size_t grain;
    int wrong;
} seen;

static void write_lengths(size_t lo, size_t hi, void *acc, void *ctx)
{
    interval *s = acc;

    if (ctx != &seen || s->has_gap || hi <= lo || (seen.grain > 0 && hi - lo > seen.grain) ||
        (lo > 3 && s->lo != 3))
        abort();
    for (size_t i = lo; i < hi; i++) {
        seen.before[i - 3] = s->hi - s->lo;
        seen.times[i - 3]++;
        append(s, i, i + 1);
    }
}

static void check_interval(size_t n, size_t grain)
{
    interval s = {0}, none = {0};

    memset(&seen, 0, sizeof seen);
    seen.grain = grain;
    CHECK_INT(filch_scan(3, 3 + n, grain, &s, &none, sizeof s, note, join, write_lengths, &seen),
              0);
    CHECK(!s.has_gap && s.lo == 3 && s.hi == 3 + n);
    for (size_t i = 0; i < ELEMENTS; i++) {
        CHECK_INT(seen.times[i], i < n);
        CHECK_INT(seen.before[i], i < n ? i : 0);
    }
}

static void in_order(void)
{
    for (size_t n = 1; n < ELEMENTS; n = n * 3 / 2 + 1)
        for (size_t grain = 0; grain < 50; grain = 2 * grain + 1)
            check_interval(n, grain);
    check_interval(ELEMENTS, ELEMENTS);
    check_interval(ELEMENTS, (size_t)-1);
}

static void order_matters(void **state)
{
    (void)state;
    workers_each(NULL, in_order);
}

/* ---- a range longer than memory: only the bounds of blocks are checked ---- */

static void add_length(size_t lo, size_t hi, void *acc, void *ctx)
{
    atomic_size_t *mapped = ctx;

    *(size_t *)acc += hi - lo;
    atomic_fetch_add(mapped, hi - lo);
}

static void add_lengths(void *acc, const void *other, void *ctx)
{
    (void)ctx;
    *(size_t *)acc += *(const size_t *)other;
}

static void check_length(size_t lo, size_t hi, void *acc, void *ctx)
{
    (void)hi, (void)ctx;
    if (*(size_t *)acc != lo - 1)
        abort();
}

static void huge(void)
{
    size_t length = 0, zero = 0;
    atomic_size_t mapped = 0;

    CHECK_INT(filch_scan(1, (size_t)-1, (size_t)1 << 50, &length, &zero, sizeof length, add_length,
                         add_lengths, check_length, &mapped),
              0);
    CHECK(length == (size_t)-2);
    CHECK(atomic_load(&mapped) == (size_t)-2);
}

static void huge_each(void **state)
{
    (void)state;
    workers_each(NULL, huge);
}

/* ---- nested ---- */

static void scan_row(size_t lo, size_t hi, void *ctx)
{
    (void)ctx;
    for (; lo < hi; lo++) {
        size_t length = 0, zero = 0;
        atomic_size_t mapped = 0;

        if (filch_scan(1, 1 + lo * 10, 3, &length, &zero, sizeof length, add_length, add_lengths,
                       check_length, &mapped) != 0 ||
            length != lo * 10 || atomic_load(&mapped) != length)
            abort();
    }
}

static void nested(void)
{
    filch_for(0, 200, 1, scan_row, NULL);
}

static void nested_each(void **state)
{
    (void)state;
    workers_each(NULL, nested);
}

static void wrong_arguments(void **state)
{
    static char large[FILCH_REDUCE_MAX + 1];
    double acc = 42, zero = 0;

    (void)state;
    CHECK_INT(filch_scan(5, 5, 0, &acc, &zero, sizeof acc, add_up, add, write_sums, NULL), 0);
    CHECK_INT(filch_scan(6, 5, 1, &acc, &zero, sizeof acc, add_up, add, write_sums, NULL), 0);
    CHECK(acc == 42);
    CHECK_INT(filch_scan(0, 9, 1, large, large, sizeof large, add_up, add, write_sums, NULL),
              -EINVAL);
}

CHECK_MAIN(same_bits_for_any_workers, same_bits_if_parts_wait, order_matters, huge_each,
           nested_each, wrong_arguments)
