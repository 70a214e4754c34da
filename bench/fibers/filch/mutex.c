/* A hundred fibers at one mutex, each in a loop: lock, add one to a number, unlock.  At each hundredth time it lets the
 * others run, without the mutex: fibers that nobody interrupts would come one after the other otherwise. */
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
    fiber_share *h = arg;
    counter *c = h->of;
    for (long i = 1; i <= h->n; i++) {
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
