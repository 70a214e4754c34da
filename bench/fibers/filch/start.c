/* Start fibers that do nothing: 1,000 at a time, or one after the other. */
#include "cases.h"

#include <errno.h>
#include <filch/fiber.h>
#include <filch/sync.h>

enum { BATCH = 1000 };

static void mark_done(void *arg)
{
    filch_wait_group_done(arg);
}

static void batch(long n)
{
    filch_wait_group all = {0};
    filch_wait_group_add(&all, (unsigned)n);
    for (long i = 0; i < n; i++)
        must(filch_go(mark_done, &all));
    must(filch_wait_group_wait(&all));
}

stopwatch start_batch(long n, int64_t *answer)
{
    stopwatch w = stopwatch_start();
    for (long left = n; left > 0; left -= BATCH) {
        long now = left < BATCH ? left : BATCH;
        batch(now);
        *answer += now;
    }
    return stopwatch_read(w);
}

static void *add_one(void *arg)
{
    ++*(int64_t *)arg;
    return NULL;
}

stopwatch start_one(long n, int64_t *answer)
{
    stopwatch w = stopwatch_start();
    for (long i = 0; i < n; i++) {
        filch_fiber *f = filch_fiber_start(add_one, answer);
        must(f ? filch_fiber_join(f, NULL) : -ENOMEM);
    }
    return stopwatch_read(w);
}
