/* Start the fibers of a case, divide its operations among them, and join them. */
#include "fiber_pool.h"

#include <errno.h>
#include <filch/fiber.h>

stopwatch fiber_pool_run(void *(*work)(void *arg), int n_fibers, long n, void *object,
                         int64_t *answer)
{
    fiber_share all[FIBER_POOL_MAX];
    filch_fiber *fibers[FIBER_POOL_MAX];
    stopwatch w = stopwatch_start();
    for (int i = 0; i < n_fibers; i++) {
        all[i] = (fiber_share){.n = share(n, n_fibers, i), .object = object};
        fibers[i] = filch_fiber_start(work, &all[i]);
        must(fibers[i] ? 0 : -ENOMEM);
    }
    for (int i = 0; i < n_fibers; i++) {
        must(filch_fiber_join(fibers[i], NULL));
        *answer += all[i].count;
    }
    return stopwatch_read(w);
}
