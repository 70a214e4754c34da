/* Fibers that do nothing but let each other run. */
#include "crew.h"

#include <filch/fiber.h>

static void *let_others_run(void *arg)
{
    hand *h = arg;
    for (long i = 0; i < h->n; i++) {
        filch_yield();
        h->count++;
    }
    return NULL;
}

stopwatch yield_2(long n, int64_t *answer)
{
    return crew_run(let_others_run, 2, n, NULL, answer);
}

stopwatch yield_100(long n, int64_t *answer)
{
    return crew_run(let_others_run, 100, n, NULL, answer);
}
