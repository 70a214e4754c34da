/* Every allocation of filch_reduce_fallible and filch_pipeline_fallible fails once.  The result is
 * right, or -ENOMEM before anything has run, and each accumulator and item is freed once. */
#include "fault/rounds.h"

#include <stdatomic.h>

enum { N = 200, FAILING = 150 };

static atomic_int live; /* objects that were made and not freed */

static void *object_new(int number)
{
    int *p = malloc(sizeof *p);

    if (!p)
        abort();
    *p = number;
    atomic_fetch_add(&live, 1);
    return p;
}

static void object_free(void *p, void *ctx)
{
    (void)ctx;
    free(p);
    atomic_fetch_sub(&live, 1);
}

/* ---- reduce: an accumulator owns an object ---- */

typedef struct total {
    int sum;
    void *object; /* NULL: the identity */
} total;

static int add_range(size_t lo, size_t hi, void *acc, void *failing)
{
    total *t = acc;

    if (!t->object)
        t->object = object_new(0);
    for (size_t i = lo; i < hi; i++) {
        if (failing && i == FAILING)
            return -EIO;
        t->sum += (int)i;
    }
    return 0;
}

static void drop_total(void *acc, void *ctx)
{
    total *t = acc;

    if (t->object)
        object_free(t->object, ctx);
    t->object = NULL;
}

static void add_totals(void *acc, const void *other, void *ctx)
{
    total *t = acc, from = *(const total *)other;

    t->sum += from.sum;
    if (!t->object)
        t->object = from.object;
    else
        drop_total(&from, ctx);
}

static int reduce(bool fails)
{
    const total zero = {0, NULL};
    total result = zero;
    int e = filch_reduce_fallible(0, N, 3, &result, &zero, sizeof result, add_range, add_totals,
                                  drop_total, fails ? &live : NULL);

    CHECK_INT(e, fails ? -EIO : 0);
    CHECK_INT(result.sum, fails ? 0 : N * (N - 1) / 2);
    drop_total(&result, NULL);
    return 0;
}

/* ---- pipeline ---- */

typedef struct line {
    int made, ended;
    bool fails;
} line;

static int make_item(void **item, void *ctx)
{
    line *l = ctx;

    *item = l->made < N ? object_new(l->made++) : NULL;
    return 0;
}

static int check_item(void **item, void *ctx)
{
    const line *l = ctx;

    return l->fails && *(int *)*item == FAILING ? -EIO : 0;
}

static int end_item(void **item, void *ctx)
{
    line *l = ctx;

    object_free(*item, NULL);
    *item = NULL;
    l->ended++;
    return 0;
}

static int run_pipeline(bool fails)
{
    line l = {.fails = fails};
    const filch_stage_fallible stages[] = {
        {FILCH_STAGE_SERIAL, make_item, object_free, &l},
        {FILCH_STAGE_PARALLEL, check_item, object_free, &l},
        {FILCH_STAGE_SERIAL, end_item, object_free, &l},
    };
    int e = filch_pipeline_fallible(stages, 3, 20);

    if (e == -ENOMEM) {
        CHECK_INT(l.made, 0);
        return e;
    }
    CHECK_INT(e, fails ? -EIO : 0);
    CHECK(fails ? l.ended <= FAILING : l.ended == N);
    return 0;
}

static int run_all(void)
{
    int first = 0;

    for (int fails = 0; fails < 2; fails++) {
        int e;
        reduce(fails);
        e = run_pipeline(fails);
        first = first == 0 ? e : first;
        CHECK_INT(atomic_load(&live), 0);
    }
    return first;
}

static void memory_runs_out(void **state)
{
    (void)state;
    for (unsigned n = 1; n <= 2; n++)
        CHECK(fault_rounds(run_all, (fault_round){.workers = n}) > 10);
}

CHECK_MAIN(memory_runs_out)
