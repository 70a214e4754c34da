/* Fibers that only yield to each other. */
#include "fiber_pool.h"

#include <filch/fiber.h>

static void *yield_repeatedly(void *arg)
{
    fiber_share *s = arg;
    for (long i = 0; i < s->n; i++) {
        filch_yield();
        s->count++;
    }
    return NULL;
}

stopwatch yield_2(long n, int64_t *answer)
{
    return fiber_pool_run(yield_repeatedly, 2, n, NULL, answer);
}

stopwatch yield_100(long n, int64_t *answer)
{
    return fiber_pool_run(yield_repeatedly, 100, n, NULL, answer);
}
