/* Fibers that do nothing but let each other run. */
#include "fiber_pool.h"

#include <filch/fiber.h>

static void *let_others_run(void *arg)
{
    fiber_share *h = arg;
    for (long i = 0; i < h->n; i++) {
        filch_yield();
        h->count++;
    }
    return NULL;
}

stopwatch yield_2(long n, int64_t *answer)
{
    return fiber_pool_run(let_others_run, 2, n, NULL, answer);
}

stopwatch yield_100(long n, int64_t *answer)
{
    return fiber_pool_run(let_others_run, 100, n, NULL, answer);
}
