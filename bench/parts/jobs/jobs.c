/* The two rows of the table in "Job System 2.0", part 3 (Molecular Matters): empty single jobs,
 * and parallel_for.
 *
 * The post has 65,000 single jobs.  It does not state the length of its loop.  Its loop times,
 * divided by the time of a single job, correspond to 9,000 to 19,000 jobs with almost no work.  So
 * the loop here is split into 8,192 leaves, 16,383 jobs in all, and a leaf increments 16 numbers.
 *
 * Empty jobs have no visible effect.  So each timed run of single jobs is followed by an untimed
 * run whose jobs set marks, which are checked.
 */
#include "bench.h"
#include "variant.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { LEAF = 16 };

static bool is_loop;
static char *marks;      /* one per single job */
static int32_t *numbers; /* one per element of the loop */
static int32_t n_rounds; /* number of times the loop has run */

static void nothing(void *arg)
{
    (void)arg;
}

static void mark(void *arg)
{
    char *m = arg;
    *m = (char)(*m + 1);
}

static void add_one(size_t lo, size_t hi, void *ctx)
{
    int32_t *n = ctx;
    for (size_t i = lo; i < hi; i++)
        n[i]++;
}

/* Splitting into `size` leaves takes size - 1 splits if size is a power of two. */
static const char *prepare(bench_case *c)
{
    size_t n = (size_t)c->size;
    is_loop = strcmp(c->input, "for") == 0;
    if (is_loop && (n & (n - 1)) != 0)
        return "the number of leaves must be a power of two";
    c->expected = is_loop ? c->size * LEAF : c->size;
    c->spawns = (uint64_t)(is_loop ? 2 * c->size - 1 : c->size);
    if (is_loop)
        numbers = calloc(n * LEAF, sizeof *numbers);
    else
        marks = calloc(n, 1);
    return numbers || marks ? NULL : "out of memory";
}

int64_t bench_run(const bench_case *c)
{
    if (is_loop)
        variant_for((size_t)c->size * LEAF, LEAF, add_one, numbers);
    else
        variant_single((size_t)c->size, nothing, marks);
    return 0;
}

/* Number of elements that were incremented exactly once per run. */
static int64_t right_numbers(const bench_case *c)
{
    int64_t right = 0;
    n_rounds++;
    for (long i = 0; i < c->size * LEAF; i++)
        right += numbers[i] == n_rounds;
    return right;
}

/* Number of jobs that run exactly once. */
static int64_t right_marks(const bench_case *c)
{
    int64_t right = 0;
    memset(marks, 0, (size_t)c->size);
    variant_single((size_t)c->size, mark, marks);
    for (long i = 0; i < c->size; i++)
        right += marks[i] == 1;
    return right;
}

static int64_t digest(const bench_case *c)
{
    return is_loop ? right_numbers(c) : right_marks(c);
}

static const bench_input inputs[] = {
    {"single", "number of jobs", 1, 65000, 65000, 5000},
    {"for", "number of leaves", 1, 32768, 8192, 1024},
    {0},
};

const bench_workload bench_the_workload = {
    .name = "jobs",
    .inputs = inputs,
    .prepare = prepare,
    .digest = digest,
};
