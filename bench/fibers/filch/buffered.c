/* Items through a channel of capacity 128: one sender and one receiver, or four of each. */
#include "fiber_pool.h"

#include <errno.h>
#include <filch/chan.h>
#include <filch/fiber.h>

enum { CAPACITY = 128, ENDS_MAX = 4 };

static void *send(void *arg)
{
    fiber_share *s = arg;
    for (int64_t i = 0; i < s->n; i++)
        must(filch_chan_send(s->object, &i));
    return NULL;
}

static void *receive(void *arg)
{
    fiber_share *s = arg;
    for (int64_t v; filch_chan_recv(s->object, &v) == 0;)
        s->count++;
    return NULL;
}

static void end_receivers(filch_chan *c, filch_fiber **fibers, fiber_share *shares, int ends,
                          int64_t *answer)
{
    must(filch_chan_close(c));
    for (int i = 0; i < ends; i++) {
        must(filch_fiber_join(fibers[i], NULL));
        *answer += shares[i].count;
    }
}

static stopwatch send_and_receive(long n, int ends, int64_t *answer)
{
    fiber_share receivers[ENDS_MAX];
    filch_fiber *fibers[ENDS_MAX];
    filch_chan *c = filch_chan_new(sizeof(int64_t), CAPACITY);
    must(c ? 0 : -ENOMEM);
    stopwatch w = stopwatch_start();
    for (int i = 0; i < ends; i++) {
        receivers[i] = (fiber_share){.object = c};
        fibers[i] = filch_fiber_start(receive, &receivers[i]);
        must(fibers[i] ? 0 : -ENOMEM);
    }
    fiber_pool_run(send, ends, n, c, answer);
    end_receivers(c, fibers, receivers, ends, answer);
    stopwatch spent = stopwatch_read(w);
    filch_chan_free(c);
    return spent;
}

stopwatch buffered_1(long n, int64_t *answer)
{
    return send_and_receive(n, 1, answer);
}

stopwatch buffered_4(long n, int64_t *answer)
{
    return send_and_receive(n, 4, answer);
}
