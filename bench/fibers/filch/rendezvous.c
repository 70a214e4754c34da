/* Two fibers and two channels without room: a number goes there and comes back. */
#include "cases.h"

#include <errno.h>
#include <filch/chan.h>
#include <filch/fiber.h>

typedef struct pair {
    filch_chan *there, *back;
} pair;

static void *send_back(void *arg)
{
    pair *p = arg;
    for (int64_t v; filch_chan_recv(p->there, &v) == 0;)
        must(filch_chan_send(p->back, &v));
    return NULL;
}

static void round_trips(pair *p, long n, int64_t *answer)
{
    for (int64_t i = 0; i < n; i++) {
        int64_t v = -1;
        must(filch_chan_send(p->there, &i));
        must(filch_chan_recv(p->back, &v));
        *answer += v == i;
    }
}

stopwatch rendezvous(long n, int64_t *answer)
{
    pair p = {filch_chan_new(sizeof(int64_t), 0), filch_chan_new(sizeof(int64_t), 0)};
    filch_fiber *f = p.there && p.back ? filch_fiber_start(send_back, &p) : NULL;
    must(f ? 0 : -ENOMEM);
    stopwatch w = stopwatch_start();
    round_trips(&p, n, answer);
    stopwatch spent = stopwatch_read(w);
    must(filch_chan_close(p.there));
    must(filch_fiber_join(f, NULL));
    filch_chan_free(p.there);
    filch_chan_free(p.back);
    return spent;
}
