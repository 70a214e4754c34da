/* sweep: a parameter sweep whose results come in the order of the parameter, on one process or on all
 * ranks of an MPI job.  It computes the Lyapunov exponent of the logistic map x -> r x (1 - x) for
 * 3.50 <= r <= 4.00.  A positive exponent means chaos.
 *
 * The accumulator of filch_cluster_reduce is an array with an element per parameter.  Each element is
 * computed once and is 0 in all other copies of the array, so combine adds the arrays.  The result is
 * the same for every number of ranks.  Periodic orbits converge early, so the times of the parameters
 * differ by a factor of up to 2000, and work stealing balances them.
 *
 *     $ ./sweep          (or: mpirun -n 4 ./sweep)
 *        r  exponent
 *     3.50    -0.873  periodic
 *     3.51    -0.352  periodic
 *     ...
 *     4.00     0.693  chaotic */
#include <filch/cluster.h>

#include <math.h>
#include <stdio.h>

enum { FIRST = 350, LAST = 400, PARAMETERS = LAST - FIRST + 1, STEPS_MAX = 1 << 21 };

typedef struct table {
    double exponent[PARAMETERS];
} table;

/* The mean of log|f'(x)| along an orbit.  The number of steps doubles until the mean is stable. */
static double exponent(double r)
{
    double x = 0.3, sum = 0, mean = 0, previous = 1;

    for (int i = 0; i < 1000; i++)
        x = r * x * (1 - x);
    for (int steps = 0, end = 1024; end <= STEPS_MAX && fabs(mean - previous) > 1e-6; end *= 2) {
        previous = mean;
        for (; steps < end; steps++) {
            x = r * x * (1 - x);
            sum += log(fabs(r * (1 - 2 * x)));
        }
        mean = sum / steps;
    }
    return mean;
}

static int compute(uint64_t lo, uint64_t hi, void *acc, void *ctx)
{
    table *t = acc;

    (void)ctx;
    for (uint64_t i = lo; i < hi; i++)
        t->exponent[i - FIRST] = exponent((double)i / 100);
    return 0;
}

static void merge(void *acc, const void *other, void *ctx)
{
    table *t = acc;
    const table *o = other;

    (void)ctx;
    for (int i = 0; i < PARAMETERS; i++)
        t->exponent[i] += o->exponent[i];
}

static void print(const table *t)
{
    puts("   r  exponent");
    for (int i = 0; i < PARAMETERS; i++)
        printf("%.2f  %8.3f  %s\n", (FIRST + i) / 100.0, t->exponent[i],
               t->exponent[i] > 0 ? "chaotic" : "periodic");
}

int main(void)
{
    table t = {0};
    int e = filch_cluster_start(NULL);

    if (e == 0)
        e = filch_cluster_reduce(FIRST, LAST + 1, 1, &t, sizeof t, compute, merge, NULL);
    if (e == 0 && filch_cluster_rank() == 0)
        print(&t);
    return filch_cluster_stop() < 0 || e != 0 || fflush(stdout) != 0;
}
