/* 100 fibers share one mutex.  Each loops: lock, increment a counter, unlock.  After 100 rounds
 * it yields without the mutex; otherwise each fiber would finish its loop before the next one
 * starts. */
#include "fiber_pool.h"

#include <filch/fiber.h>
#include <filch/sync.h>

enum { FIBERS = 100, BETWEEN_YIELDS = 100 };

typedef struct counter {
    filch_mutex lock;
    int64_t value;
} counter;

static void *count(void *arg)
{
    fiber_share *s = arg;
    counter *c = s->object;
    for (long i = 1; i <= s->n; i++) {
        filch_mutex_lock(&c->lock);
        c->value++;
        filch_mutex_unlock(&c->lock);
        if (i % BETWEEN_YIELDS == 0)
            filch_yield();
    }
    return NULL;
}

stopwatch mutex(long n, int64_t *answer)
{
    counter c = {.value = 0};
    stopwatch spent = fiber_pool_run(count, FIBERS, n, &c, answer);
    *answer = c.value;
    return spent;
}
