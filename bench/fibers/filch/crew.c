#include "crew.h"

#include <errno.h>
#include <filch/fiber.h>

stopwatch crew_run(void *(*work)(void *hand), int hands, long n, void *of, int64_t *answer)
{
    hand all[MOST_HANDS];
    filch_fiber *fibers[MOST_HANDS];
    stopwatch w = stopwatch_start();
    for (int i = 0; i < hands; i++) {
        all[i] = (hand){.n = share(n, hands, i), .of = of};
        fibers[i] = filch_fiber_start(work, &all[i]);
        must(fibers[i] ? 0 : -ENOMEM);
    }
    for (int i = 0; i < hands; i++) {
        must(filch_fiber_join(fibers[i], NULL));
        *answer += all[i].count;
    }
    return stopwatch_read(w);
}
