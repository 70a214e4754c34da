/* Two fibers and two unbuffered channels: each round trip sends a number and receives it back. */
#include "cases.h"

#include <errno.h>
#include <filch/chan.h>
#include <filch/fiber.h>

typedef struct pair {
    filch_chan *request, *reply;
} pair;

static void *send_back(void *arg)
{
    pair *p = arg;
    for (int64_t v; filch_chan_recv(p->request, &v) == 0;)
        must(filch_chan_send(p->reply, &v));
    return NULL;
}

static void round_trips(pair *p, long n, int64_t *answer)
{
    for (int64_t i = 0; i < n; i++) {
        int64_t v = -1;
        must(filch_chan_send(p->request, &i));
        must(filch_chan_recv(p->reply, &v));
        *answer += v == i;
    }
}

stopwatch rendezvous(long n, int64_t *answer)
{
    pair p = {filch_chan_new(sizeof(int64_t), 0), filch_chan_new(sizeof(int64_t), 0)};
    filch_fiber *f = p.request && p.reply ? filch_fiber_start(send_back, &p) : NULL;
    must(f ? 0 : -ENOMEM);
    stopwatch w = stopwatch_start();
    round_trips(&p, n, answer);
    stopwatch spent = stopwatch_read(w);
    must(filch_chan_close(p.request));
    must(filch_fiber_join(f, NULL));
    filch_chan_free(p.request);
    filch_chan_free(p.reply);
    return spent;
}
