/* Loops over 1M elements with almost no work per element, many in sequence, as in a program whose
 * time steps are loops. */
#include "parts/algo/loops.h"

#include "parts/algo/algo_bench.h"

#include <filch/algo.h>

#define LOOP_LENGTH (1 << 20)

static float v[LOOP_LENGTH] __attribute__((aligned(64)));

__attribute__((noinline)) void algo_loop_body(size_t lo, size_t hi, void *ctx)
{
    (void)ctx;
    for (size_t i = lo; i < hi; i++)
        v[i] = v[i] * 0.5f + 1.0f;
}

typedef struct many {
    size_t loops, n, grain;
    void (*loop)(const struct many *m);
} many;

static void run_many(void *arg)
{
    const many *m = arg;

    for (size_t i = 0; i < m->loops; i++)
        m->loop(m);
}

static void serial_loop(const many *m)
{
    algo_loop_body(0, m->n, NULL);
}

static void with_filch(const many *m)
{
    filch_for(0, m->n, m->grain, algo_loop_body, NULL);
}

static int fallible_body(size_t lo, size_t hi, void *ctx)
{
    algo_loop_body(lo, hi, ctx);
    return 0;
}

static void with_filch_fallible(const many *m)
{
    filch_for_fallible(0, m->n, m->grain, fallible_body, NULL);
}

#ifdef HAVE_LOOPS_OMP
static void with_omp_1(const many *m)
{
    algo_loop_omp(m->n, 1, algo_loop_body);
}

static void with_omp_2(const many *m)
{
    algo_loop_omp(m->n, 2, algo_loop_body);
}
#endif

#ifdef HAVE_TBB
static void with_tbb_1(const many *m)
{
    algo_loop_tbb(m->n, 1, algo_loop_body);
}

static void with_tbb_2(const many *m)
{
    algo_loop_tbb(m->n, 2, algo_loop_body);
}
#endif

void algo_loops(const algo_options *o)
{
    size_t n = o->quick ? LOOP_LENGTH / 16 : LOOP_LENGTH, loops = o->quick ? 2 : 100;
    many serial = {loops, n, 0, serial_loop};
    many filch = {loops, n, 0, with_filch}, fallible = {loops, n, 0, with_filch_fallible};
    many grain_1 = {1, n, 1, with_filch}, fallible_grain_1 = {1, n, 1, with_filch_fallible};
    many serial_once = {1, n, 0, serial_loop};
#ifdef HAVE_LOOPS_OMP
    many omp_1 = {loops, n, 0, with_omp_1}, omp_2 = {loops, n, 0, with_omp_2};
#endif
#ifdef HAVE_TBB
    many tbb_1 = {loops, n, 0, with_tbb_1}, tbb_2 = {loops, n, 0, with_tbb_2};
#endif
    const algo_variant variants[] = {
        {"serial loop", 0, NULL, run_many, NULL, &serial},
        {"filch_for, 1 worker", 1, NULL, run_many, NULL, &filch},
        {"filch_for, 2 workers", 2, NULL, run_many, NULL, &filch},
        {"filch_for_fallible, 2 workers", 2, NULL, run_many, NULL, &fallible},
#ifdef HAVE_TBB
        {"oneTBB parallel_for, 1", 0, NULL, run_many, NULL, &tbb_1},
        {"oneTBB parallel_for, 2", 0, NULL, run_many, NULL, &tbb_2},
#endif
#ifdef HAVE_LOOPS_OMP
        {"OpenMP static, 1", 0, NULL, run_many, NULL, &omp_1},
        {"OpenMP static, 2", 0, NULL, run_many, NULL, &omp_2},
#endif
    };
    const algo_variant of_one[] = {
        {"serial loop", 0, NULL, run_many, NULL, &serial_once},
        {"filch_for, 1 worker", 1, NULL, run_many, NULL, &grain_1},
        {"filch_for, 2 workers", 2, NULL, run_many, NULL, &grain_1},
        {"filch_for_fallible, 1 worker", 1, NULL, run_many, NULL, &fallible_grain_1},
    };

    algo_compare(o, "100 loops over 1M floats, default grain", variants,
                 sizeof variants / sizeof *variants);
    algo_compare(o, "1 loop over 1M floats, grain 1 (ms = ns per element)", of_one,
                 sizeof of_one / sizeof *of_one);
}
