/* Merge sort of ints with a uniform or an exponential distribution.  It is limited by memory.  The
 * merge is parallel too, so that the last merge does not run on one worker. */
#include "sort.h"
#include "bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int *sort_data, *sort_scratch;
size_t sort_length;

static int *pristine;

static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 33) * UINT64_C(0xff51afd7ed558ccd);
    x = (x ^ x >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
    return x ^ x >> 33;
}

static int uniform(uint64_t random)
{
    return (int)(random >> 33);
}

static int exponential(uint64_t random)
{
    double u = (double)((random >> 11) + 1) / 9007199254740992.0; /* (0, 1] */
    return (int)(-log(u) * 1e6);
}

static const char *fill(const char *input)
{
    int (*draw)(uint64_t) = strcmp(input, "uniform") == 0 ? uniform : exponential;
    size_t bytes = sort_length * sizeof(int);
    pristine = malloc(bytes);
    sort_data = malloc(bytes);
    sort_scratch = malloc(bytes);
    if (!pristine || !sort_data || !sort_scratch)
        return "no memory for the numbers";
    for (size_t i = 0; i < sort_length; i++)
        pristine[i] = draw(mix(i + 1));
    return NULL;
}

/* A hash that does not depend on the order. */
static int64_t sum_of(const int *data)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < sort_length; i++)
        sum += mix((uint64_t)data[i]);
    return (int64_t)(sum >> 1);
}

static int64_t digest(const bench_case *c)
{
    (void)c;
    for (size_t i = 1; i < sort_length; i++)
        if (sort_data[i - 1] > sort_data[i])
            return -1;
    return sum_of(sort_data);
}

/* Also writes the scratch array, so that no repetition includes page faults. */
static void reset(void)
{
    memcpy(sort_data, pristine, sort_length * sizeof *sort_data);
    memset(sort_scratch, 0, sort_length * sizeof *sort_scratch);
}

static uint64_t merge_spawns(size_t n)
{
    return n <= SORT_MERGE_LEAF ? 0 : 1 + merge_spawns(n / 2) + merge_spawns(n - n / 2);
}

static uint64_t sort_spawns(size_t n)
{
    if (n <= SORT_LEAF)
        return 0;
    return 1 + sort_spawns(n / 2) + sort_spawns(n - n / 2) + merge_spawns(n);
}

static const char *prepare(bench_case *c)
{
    sort_length = (size_t)c->size;
    const char *why = fill(c->input);
    if (why)
        return why;
    c->expected = sum_of(pristine);
    c->spawns = sort_spawns(sort_length);
    return NULL;
}

static const bench_input inputs[] = {
    {"uniform", "number of 4-byte ints", 1, 1L << 28, 1L << 24, 1L << 19},
    {"exponential", "number of 4-byte ints", 1, 1L << 28, 1L << 24, 1L << 19},
    {0},
};

const bench_workload bench_the_workload = {
    .name = "sort",
    .inputs = inputs,
    .prepare = prepare,
    .reset = reset,
    .digest = digest,
};
