/* A reduction whose map fails returns the error, leaves the result alone, starts no more blocks,
 * and frees each accumulator once. */
#include "unit/task/helpers.h"

#include <errno.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>

/* An accumulator owns one heap block from its first map on. */
typedef struct length {
    size_t *counted;
} length;

typedef struct failure {
    size_t at; /* the element that fails; SIZE_MAX: none */
    int error;
    int patience; /* yields of the failing call */
    atomic_long owned;
    atomic_size_t maps;
} failure;

static void own(length *l, failure *f)
{
    if (l->counted)
        abort(); /* an accumulator starts as the identity */
    l->counted = calloc(1, sizeof *l->counted);
    if (!l->counted)
        abort();
    atomic_fetch_add(&f->owned, 1);
}

static void drop_length(void *acc, void *ctx)
{
    length *l = acc;
    failure *f = ctx;

    if (!l->counted)
        abort();
    free(l->counted);
    l->counted = NULL;
    atomic_fetch_sub(&f->owned, 1);
}

/* Other blocks may be mapped before this one fails, so that there are accumulators to drop. */
static void let_others_map(failure *f)
{
    for (int i = 0; i < f->patience && atomic_load(&f->maps) < 8; i++)
        sched_yield();
}

static int count_elements(size_t lo, size_t hi, void *acc, void *ctx)
{
    length *l = acc;
    failure *f = ctx;

    atomic_fetch_add(&f->maps, 1);
    own(l, f);
    *l->counted += hi - lo;
    if (f->at < lo || hi <= f->at)
        return 0;
    let_others_map(f);
    return f->error;
}

static void append_length(void *acc, const void *other, void *ctx)
{
    length *l = acc;
    length o = *(const length *)other;

    *l->counted += *o.counted;
    drop_length(&o, ctx);
}

static int count_range(size_t n, size_t grain, failure *f, size_t *counted)
{
    const length none = {NULL};
    length all = {counted};
    int e = filch_reduce_fallible(5, 5 + n, grain, &all, &none, sizeof all, count_elements,
                                  append_length, drop_length, f);

    CHECK(all.counted == counted);
    CHECK_INT(atomic_load(&f->owned), 0);
    return e;
}

static const size_t sizes[] = {1, 2, 3, 10, 1000, 5000};
static const size_t grains[] = {0, 1, 3, 100, SIZE_MAX};
#define LENGTH_OF(array) (sizeof(array) / sizeof *(array))

static void no_error(void)
{
    for (size_t i = 0; i < LENGTH_OF(sizes); i++)
        for (size_t k = 0; k < LENGTH_OF(grains); k++) {
            failure f = {.at = SIZE_MAX};
            size_t counted = 10;

            CHECK_INT(count_range(sizes[i], grains[k], &f, &counted), 0);
            CHECK_INT(counted, 10 + sizes[i]);
        }
}

static void one_fails(void)
{
    for (size_t i = 0; i < LENGTH_OF(sizes); i++)
        for (size_t k = 0; k < LENGTH_OF(grains); k++)
            for (size_t at = 0; at < sizes[i]; at += sizes[i] / 3 + 1) {
                failure f = {.at = 5 + at, .error = k % 2 ? 7 : -EIO, .patience = 10};
                size_t counted = 10;

                CHECK_INT(count_range(sizes[i], grains[k], &f, &counted), f.error);
                CHECK_INT(counted, 10);
            }
}

static void empty_range(void)
{
    failure f = {.at = 5, .error = 1};
    size_t counted = 10;

    CHECK_INT(count_range(0, 0, &f, &counted), 0);
    CHECK_INT(counted, 10);
    CHECK_INT(atomic_load(&f.maps), 0);
}

/* The range is so long that the test ends only if the reduction stops early. */
static void stops_early(void)
{
    failure f = {.at = 5, .error = 1};
    const length none = {NULL};
    length all = {NULL};

    CHECK_INT(filch_reduce_fallible(0, SIZE_MAX, (size_t)1 << 36, &all, &none, sizeof all,
                                    count_elements, append_length, drop_length, &f),
              1);
    CHECK_INT(atomic_load(&f.owned), 0);
}

static void stops_at_once(void **state)
{
    failure f = {.at = 5 + 41, .error = 5};
    size_t counted = 0;

    (void)state;
    CHECK_INT(filch_start(&(filch_config){.workers = 1}), 0);
    CHECK_INT(count_range(5000, 1, &f, &counted), 5);
    CHECK_INT(atomic_load(&f.maps), 42);
    CHECK_INT(filch_stop(), 0);
}

/* ---- without a drop function; the calling fiber is cancelled ---- */

#ifdef FILCH_SERIAL
SKIP_IN_SERIAL(cancelled_fiber_each, "fibers")
#else
static int map_until_cancelled(size_t lo, size_t hi, void *acc, void *ctx)
{
    (void)ctx;
    *(size_t *)acc += hi - lo;
    return filch_fiber_is_cancelled() ? -ECANCELED : 0;
}

static void add_sizes(void *acc, const void *other, void *ctx)
{
    (void)ctx;
    *(size_t *)acc += *(const size_t *)other;
}

static void *reduce_cancelled(void *arg)
{
    size_t *sum = arg;
    const size_t zero = 0;
    int e;

    filch_fiber_cancel(filch_fiber_self());
    e = filch_reduce_fallible(0, 1000, 1, sum, &zero, sizeof *sum, map_until_cancelled, add_sizes,
                              NULL, NULL);
    return e == -ECANCELED && *sum == 3 ? arg : NULL;
}

static void cancelled_fiber(void)
{
    size_t sum = 3;
    void *result = NULL;

    CHECK_INT(filch_fiber_join(filch_fiber_start(reduce_cancelled, &sum), &result), 0);
    CHECK(result == &sum);
}

static void cancelled_fiber_each(void **state)
{
    (void)state;
    workers_each(NULL, cancelled_fiber);
}
#endif

static void wrong_arguments(void **state)
{
    static char large[FILCH_REDUCE_MAX + 1];

    (void)state;
    CHECK_INT(filch_reduce_fallible(0, 9, 1, large, large, sizeof large, count_elements,
                                    append_length, drop_length, NULL),
              -EINVAL);
}

#define EACH(name)                                                                                 \
    static void name##_each(void **state)                                                          \
    {                                                                                              \
        (void)state;                                                                               \
        workers_each(NULL, name);                                                                  \
    }
EACH(no_error)
EACH(one_fails)
EACH(empty_range)
EACH(stops_early)

CHECK_MAIN(no_error_each, one_fails_each, empty_range_each, stops_early_each, stops_at_once,
           cancelled_fiber_each, wrong_arguments)
