/* Short parallel loops in a sequence, with serial work of the same length between them, as in a
 * program whose time steps are partly parallel.  A worker that sleeps during the serial work comes
 * late to the next loop.  On two CPUs the best possible speed relative to the serial program is 4/3:
 * the serial work takes as long as before, and the loops half as long. */
#include "parts/algo/algo_bench.h"
#include "parts/algo/loops.h"

#include <filch/algo.h>
#include <stdio.h>
#include <time.h>

#define STEPS_PER_ELEMENT 500

enum { ELEMENTS = 1 << 16 };

static float v[ELEMENTS];

/* About a microsecond for each element.  The longest loops have fewer elements than the
 * array, so that no two of them share one. */
__attribute__((noinline)) static void compute(size_t lo, size_t hi, void *ctx)
{
    (void)ctx;
    for (size_t i = lo; i < hi; i++) {
        float x = v[i % ELEMENTS];
        for (int k = 0; k < STEPS_PER_ELEMENT; k++)
            x = x * 0.5f + 1.0f;
        v[i % ELEMENTS] = x;
    }
}

typedef struct gaps {
    size_t loops, n;
    void (*loop)(size_t n);
} gaps;

static void run_gaps(void *arg)
{
    const gaps *g = arg;

    for (size_t i = 0; i < g->loops; i++) {
        compute(0, g->n, NULL);
        g->loop(g->n);
    }
}

static void serial_loop(size_t n)
{
    compute(0, n, NULL);
}

static void with_filch(size_t n)
{
    filch_for(0, n, 0, compute, NULL);
}

#ifdef HAVE_TBB
static void with_tbb(size_t n)
{
    algo_loop_tbb(n, 2, compute);
}
#endif

#ifdef HAVE_LOOPS_OMP
static void with_omp(size_t n)
{
    algo_loop_omp(n, 2, compute);
}
#endif

/* The number of elements that take this time. */
static size_t elements_of(double us)
{
    struct timespec begin, end;
    double ns, best = 1e9;

    for (int i = 0; i < 20; i++) {
        clock_gettime(CLOCK_MONOTONIC, &begin);
        compute(0, 100, NULL);
        clock_gettime(CLOCK_MONOTONIC, &end);
        ns = (double)(end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec);
        best = ns < best ? ns : best;
    }
    return (size_t)(us * 1e3 / (best / 100)) + 1;
}

static void compare_gaps(const algo_options *o, unsigned us)
{
    size_t n = elements_of(us), loops = (o->quick ? 2000 : 100000) / us;
    gaps serial = {loops, n, serial_loop}, filch = {loops, n, with_filch};
#ifdef HAVE_TBB
    gaps tbb = {loops, n, with_tbb};
#endif
#ifdef HAVE_LOOPS_OMP
    gaps omp = {loops, n, with_omp};
#endif
    const algo_variant variants[] = {
        {"serial loop", 0, NULL, run_gaps, NULL, &serial},
        {"filch_for, 2 workers", 2, NULL, run_gaps, NULL, &filch},
#ifdef HAVE_TBB
        {"oneTBB parallel_for, 2", 0, NULL, run_gaps, NULL, &tbb},
#endif
#ifdef HAVE_LOOPS_OMP
        {"OpenMP static, 2", 0, NULL, run_gaps, NULL, &omp},
#endif
    };
    char title[100];

    snprintf(title, sizeof title, "%zu loops of %u us, after %u us of serial work each", loops, us,
             us);
    algo_compare(o, title, variants, sizeof variants / sizeof *variants);
}

void algo_gaps(const algo_options *o)
{
    compare_gaps(o, 50);
    compare_gaps(o, 300);
    compare_gaps(o, 1000);
}
