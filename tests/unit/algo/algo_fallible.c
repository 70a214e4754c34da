/* A loop returns its first result that is not 0, and starts no more chunks after it. */
#include "unit/task/helpers.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#define N_MAX 5000

static atomic_uchar times[N_MAX];
static atomic_size_t calls;

typedef struct failure {
    size_t fail_at; /* the element that fails */
    int with;
} failure;

static void forget(void)
{
    memset(times, 0, sizeof times);
    atomic_store(&calls, 0);
}

static int see(size_t lo, size_t hi, void *ctx)
{
    const failure *w = ctx;
    int result = 0;

    atomic_fetch_add(&calls, 1);
    for (size_t i = lo; i < hi; i++) {
        atomic_fetch_add(&times[i], 1);
        if (i == w->fail_at)
            result = w->with;
    }
    return result;
}

static bool saw_each_once(size_t n)
{
    for (size_t i = 0; i < N_MAX; i++)
        if (times[i] != (i < n))
            return false;
    return true;
}

static bool saw_none_twice(void)
{
    for (size_t i = 0; i < N_MAX; i++)
        if (times[i] > 1)
            return false;
    return true;
}

static const size_t grains[] = {0, 1, 3, 100, N_MAX, (size_t)-1};
#define GRAINS (sizeof grains / sizeof *grains)

static void no_error(void)
{
    static const size_t lengths[] = {0, 1, 2, 64, 1000, N_MAX};
    failure none = {N_MAX, 1};

    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        for (size_t j = 0; j < GRAINS; j++) {
            forget();
            CHECK_INT(filch_for_fallible(0, lengths[i], grains[j], see, &none), 0);
            CHECK(saw_each_once(lengths[i]));
        }
    forget();
    CHECK_INT(filch_for_fallible(7, 3, 1, see, &none), 0);
    CHECK_INT(calls, 0);
}

static void one_fails(void)
{
    static const size_t at[] = {0, 1, 63, 2500, N_MAX - 1};

    for (size_t i = 0; i < sizeof at / sizeof *at; i++)
        for (size_t j = 0; j < GRAINS; j++) {
            failure w = {at[i], i % 2 ? 77 : -77};
            forget();
            CHECK_INT(filch_for_fallible(0, N_MAX, grains[j], see, &w), w.with);
            CHECK_INT(times[at[i]], 1);
            CHECK(saw_none_twice());
        }
}

/* ---- with one worker the loop stops at once ---- */

static void stops_at_once(void **state)
{
    failure w = {41, 5};

    (void)state;
    CHECK_INT(filch_start(&(filch_config){.workers = 1}), 0);
    forget();
    CHECK_INT(filch_for_fallible(0, N_MAX, 1, see, &w), 5);
    CHECK_INT(calls, 42);
    CHECK(saw_each_once(42));
    CHECK_INT(filch_stop(), 0);
}

/* Each chunk fails, so a worker runs at most one. */
static int refuse(size_t lo, size_t hi, void *ctx)
{
    (void)lo, (void)hi, (void)ctx;
    atomic_fetch_add(&calls, 1);
    return (int)(lo % 1000) + 1;
}

static void each_fails(void)
{
    for (size_t i = 0; i < 100; i++) {
        int e;
        atomic_store(&calls, 0);
        e = filch_for_fallible(0, (size_t)-1, i % 2, refuse, NULL);
        CHECK(e >= 1 && e <= 1000);
        CHECK(calls >= 1 && calls <= filch_worker_count());
    }
}

/* The range is so long that the test ends only if the loop stops early. */
static int search(size_t lo, size_t hi, void *ctx)
{
    size_t wanted = *(const size_t *)ctx;

    return lo <= wanted && wanted < hi;
}

static void finds_in_an_endless_range(void)
{
    size_t wanted = 100000;

    CHECK_INT(filch_for_fallible(0, (size_t)-1, 10, search, &wanted), 1);
    wanted = (size_t)-2;
    CHECK_INT(filch_for_fallible(0, (size_t)-1, 0, search, &wanted), 1);
    CHECK_INT(filch_for_fallible(0, (size_t)-2, 0, search, &wanted), 0);
}

/* ---- nested, from tasks and from threads: only the failed loop stops ---- */

static int inner(size_t lo, size_t hi, void *ctx)
{
    const size_t *row = ctx;

    for (size_t i = lo; i < hi; i++) {
        if (i == 10 && *row % 3 == 0)
            return 9;
        if (*row % 3 != 0)
            atomic_fetch_add(&times[*row * 50 + i], 1);
    }
    return 0;
}

static int outer(size_t lo, size_t hi, void *ctx)
{
    (void)ctx;
    for (size_t i = lo; i < hi; i++)
        if (filch_for_fallible(0, 50, 7, inner, &i) != (i % 3 == 0 ? 9 : 0))
            return -1;
    return 0;
}

FILCH_TASK(int, in_a_task)
{
    return filch_for_fallible(0, 100, 3, outer, NULL);
}

static bool rows_are_right(void)
{
    for (size_t i = 0; i < N_MAX; i++)
        if (times[i] != (i / 50 % 3 != 0))
            return false;
    return true;
}

static void nested(void)
{
    forget();
    CHECK_INT(filch_for_fallible(0, 100, 1, outer, NULL), 0);
    CHECK(rows_are_right());
    forget();
    CHECK_INT(FILCH_RUN(in_a_task), 0);
    CHECK(rows_are_right());
}

static void *search_in_thread(void *arg)
{
    for (size_t i = 0; i < 200; i++)
        if (filch_for_fallible(0, 100000, 50, search, &i) != 1)
            return arg;
    return NULL;
}

static void from_threads(void)
{
    pthread_t thread[4];

    for (int i = 0; i < 4; i++)
        CHECK_INT(pthread_create(&thread[i], NULL, search_in_thread, thread), 0);
    for (int i = 0; i < 4; i++) {
        void *wrong;
        CHECK_INT(pthread_join(thread[i], &wrong), 0);
        CHECK(wrong == NULL);
    }
}

#define EACH(name)                                                                                 \
    static void name##_each(void **state)                                                          \
    {                                                                                              \
        (void)state;                                                                               \
        workers_each(NULL, name);                                                                  \
    }
EACH(no_error)
EACH(one_fails)
EACH(each_fails)
EACH(finds_in_an_endless_range)
EACH(nested)
EACH(from_threads)

CHECK_MAIN(no_error_each, one_fails_each, stops_at_once, each_fails_each,
           finds_in_an_endless_range_each, nested_each, from_threads_each)
