/* Short loops in sequence, as in a program whose time steps are loops.  Each loop needs the workers
 * again that ran out of work at the end of the loop before. */
#include "loop.h"
#include "bench.h"

uint32_t loop_numbers[LOOP_LENGTH];

static void reset(void)
{
    for (uint32_t i = 0; i < LOOP_LENGTH; i++)
        loop_numbers[i] = i;
}

/* The sum after all loops.  The loops apply one affine function n times; this multiplies the sum
 * and adds the term for all numbers at once. */
static const char *prepare(bench_case *c)
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i < LOOP_LENGTH; i++)
        sum += i;
    for (long i = 0; i < c->size; i++)
        sum = sum * LOOP_FACTOR + LOOP_TERM * (uint32_t)LOOP_LENGTH;
    c->expected = sum;
    return NULL;
}

/* A number that a loop misses or visits twice changes the sum. */
static int64_t digest(const bench_case *c)
{
    uint32_t sum = 0;
    (void)c;
    for (size_t i = 0; i < LOOP_LENGTH; i++)
        sum += loop_numbers[i];
    return sum;
}

static const bench_input inputs[] = {
    {NULL, "number of loops", 1, 1000000, 2000, 200},
    {0},
};

const bench_workload bench_the_workload = {
    .name = "loop",
    .inputs = inputs,
    .prepare = prepare,
    .reset = reset,
    .digest = digest,
};
