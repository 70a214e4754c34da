/* If the runtime cannot start, the algorithms run on the calling thread, with the same results. */
#include "check.h"

#include <filch/filch.h>

#include <errno.h>
#include <stdbool.h>

#define N 5000

static int value[N];

static void set_values(size_t lo, size_t hi, void *ctx)
{
    (void)ctx;
    for (size_t i = lo; i < hi; i++)
        value[i] = (int)(i * 7919 % N);
}

static int add_up(size_t lo, size_t hi, void *acc, void *ctx)
{
    const size_t *fail_at = ctx;

    for (size_t i = lo; i < hi; i++)
        *(long *)acc += value[i];
    return lo <= *fail_at && *fail_at < hi ? -EIO : 0;
}

static void map(size_t lo, size_t hi, void *acc, void *ctx)
{
    size_t none = N;

    (void)ctx;
    add_up(lo, hi, acc, &none);
}

static void add(void *acc, const void *other, void *ctx)
{
    (void)ctx;
    *(long *)acc += *(const long *)other;
}

static void check_before(size_t lo, size_t hi, void *acc, void *ctx)
{
    long sum = 0;

    (void)hi, (void)ctx;
    for (size_t i = 0; i < lo; i++)
        sum += value[i];
    if (*(long *)acc != sum)
        abort();
}

static void loops_and_reductions(void **state)
{
    long sum = 10, zero = 0;
    size_t fail_at = N / 2;

    (void)state;
    filch_for(0, N, 0, set_values, NULL);
    CHECK_INT(filch_worker_count(), 0);
    CHECK_INT(filch_reduce(0, N, 0, &sum, &zero, sizeof sum, map, add, NULL), 0);
    CHECK_INT(sum, 10L + (long)N * (N - 1) / 2);
    CHECK_INT(filch_reduce_fallible(0, N, 1, &sum, &zero, sizeof sum, add_up, add, NULL, &fail_at),
              -EIO);
    CHECK_INT(sum, 10L + (long)N * (N - 1) / 2);
    sum = 0;
    CHECK_INT(filch_scan(0, N, 0, &sum, &zero, sizeof sum, map, add, check_before, NULL), 0);
    CHECK_INT(sum, (long)N * (N - 1) / 2);
    CHECK_INT(filch_sort(value, N, sizeof *value, filch_compare_int, NULL), 0);
    for (int i = 0; i < N; i++)
        CHECK_INT(value[i], i);
}

static int made, ended, dropped, fail_number;

static int make_item(void **item, void *ctx)
{
    (void)ctx;
    *item = made < 100 ? &value[++made] : NULL;
    return 0;
}

static int pass_item(void **item, void *ctx)
{
    (void)ctx;
    return *(int *)*item == fail_number ? -EIO : 0;
}

/* Items come in their order. */
static int end_item(void **item, void *ctx)
{
    (void)ctx;
    return *(int *)*item == ++ended ? 0 : -EINVAL;
}

static void drop_item(void *item, void *ctx)
{
    (void)item, (void)ctx;
    dropped++;
}

static void pipelines(void **state)
{
    const filch_stage_fallible stages[] = {{FILCH_STAGE_SERIAL, make_item, drop_item, NULL},
                                           {FILCH_STAGE_PARALLEL, pass_item, drop_item, NULL},
                                           {FILCH_STAGE_SERIAL, end_item, drop_item, NULL}};

    (void)state;
    for (int i = 0; i < N; i++)
        value[i] = i;
    for (size_t in_flight = 0; in_flight < 20; in_flight++) {
        made = ended = dropped = fail_number = 0;
        CHECK_INT(filch_pipeline_fallible(stages, 3, in_flight), 0);
        CHECK(made == 100 && ended == 100 && dropped == 0);
        made = ended = 0;
        fail_number = 50;
        CHECK_INT(filch_pipeline_fallible(stages, 3, in_flight), -EIO);
        CHECK_INT(made - ended, dropped);
    }
}

static int calls;

static void count_call(void)
{
    calls++;
}

static void invocations(void **state)
{
    (void)state;
    filch_invoke(count_call, count_call, count_call);
    CHECK_INT(calls, 3);
}

/* A wrong setting, with FILCH_STRICT, keeps the runtime from starting. */
int main(void)
{
    const struct CMUnitTest tests[] = {CHECK_TEST(loops_and_reductions), CHECK_TEST(pipelines),
                                       CHECK_TEST(invocations)};

    setenv("FILCH_STRICT", "1", 1);
    setenv("FILCH_WORKERS", "many", 1);
    return CHECK_RUN(tests);
}
