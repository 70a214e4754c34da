/* Reply channels: a client creates a channel, sends it to a server, and frees it as soon as its own
 * call has succeeded, while the server is still inside its call.  The server uses the channel in
 * every way: plain calls, deadlines that pass, a select, a fiber that is cancelled
 * meanwhile, and a thread.  AddressSanitizer detects a use after free.  In other builds freed
 * memory is overwritten, and the test hangs or crashes.
 * FILCH_SEED=... repeats a run's settings. */
#include "unit/task/helpers.h"

#include "base/rng.h"
#include "seed.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>

enum { SERVERS = 3, CLIENTS = 4 };

typedef struct request {
    filch_chan *reply; /* NULL: no more requests */
    bool sends;        /* the server sends; else it receives */
    long number;
} request;

typedef struct server {
    fi_rng rng;
    filch_fiber *fiber;
    pthread_t thread;
    int wrong; /* line of the first failed check; 0: none */
} server;

static filch_chan *requests, *never; /* the second is never used by a partner */
static server servers[SERVERS];
static atomic_int clients_left;

#define WRONG_UNLESS(s, condition)                                                                 \
    do {                                                                                           \
        if (!(condition))                                                                          \
            (s)->wrong = __LINE__;                                                                 \
    } while (0)

/* ---- server ---- */

static int64_t soon(fi_rng *r)
{
    return filch_now() + fi_rng_below(r, 4000);
}

static int plainly(server *s, const request *r, long *item)
{
    int64_t deadline = fi_rng_below(&s->rng, 2) ? soon(&s->rng) : INT64_MAX;

    return r->sends ? filch_chan_send_until(r->reply, item, deadline)
                    : filch_chan_recv_until(r->reply, item, deadline);
}

/* The reply channel in several cases, before and after one that is never ready. */
static int by_select(server *s, const request *r, long *item)
{
    filch_case k = {r->sends ? FILCH_CASE_KIND_SEND : FILCH_CASE_KIND_RECV, r->reply, item, 0};
    filch_case other = FILCH_CASE_RECV(never, NULL);
    filch_case cases[12] = {k, other, k};
    size_t n = fi_rng_below(&s->rng, 2) ? 3 : 12;
    int64_t deadline = fi_rng_below(&s->rng, 2) ? soon(&s->rng) : INT64_MAX;
    int chosen = filch_select_until(cases, n, deadline);

    return chosen < 0 ? chosen : cases[chosen].result;
}

static void serve(server *s, const request *r)
{
    long item = r->sends ? r->number : -1;
    int e;

    do {
        e = fi_rng_below(&s->rng, 2) ? plainly(s, r, &item) : by_select(s, r, &item);
        if (e == -ECANCELED)
            filch_fiber_uncancel();
        WRONG_UNLESS(s, e == 0 || e == -ETIMEDOUT || e == -ECANCELED);
    } while (e == -ETIMEDOUT || e == -ECANCELED);
    WRONG_UNLESS(s, item == r->number);
}

static void *server_main(void *arg)
{
    server *s = arg;
    request r;

    for (;;) {
        int e = filch_chan_recv(requests, &r);
        if (e == -ECANCELED) {
            filch_fiber_uncancel();
            continue;
        }
        WRONG_UNLESS(s, e == 0);
        if (e < 0 || !r.reply)
            return NULL;
        serve(s, &r);
    }
}

/* ---- clients ---- */

#define OR_LINE(condition)                                                                         \
    do {                                                                                           \
        if (!(condition))                                                                          \
            return __LINE__;                                                                       \
    } while (0)

typedef struct client {
    fi_rng rng;
    long asks;
    int wrong;
} client;

/* The channel is freed as soon as the item was received or sent. */
static int ask(fi_rng *rng, long number)
{
    request r = {.sends = fi_rng_below(rng, 2), .number = number};
    long item = r.sends ? -1 : number;
    int e;

    /* A sender to a channel of capacity 1 does not know whether the item was received. */
    r.reply = filch_chan_new(sizeof item, r.sends ? fi_rng_below(rng, 2) : 0);
    OR_LINE(r.reply != NULL);
    OR_LINE(filch_chan_send(requests, &r) == 0);
    if (fi_rng_below(rng, 2)) {
        e = r.sends ? filch_chan_recv(r.reply, &item) : filch_chan_send(r.reply, &item);
    } else {
        filch_case k = {r.sends ? FILCH_CASE_KIND_RECV : FILCH_CASE_KIND_SEND, r.reply, &item, 0};
        e = filch_select(&k, 1) == 0 ? k.result : -1;
    }
    OR_LINE(e == 0 && item == number);
    filch_chan_free(r.reply);
    return 0;
}

/* Sometimes cancels a server, whatever it is doing. */
static void client_main(void *arg)
{
    client *c = arg;

    for (long i = 0; i < c->asks && c->wrong == 0; i++) {
        c->wrong = ask(&c->rng, i);
        if (fi_rng_below(&c->rng, 4) == 0)
            filch_fiber_cancel(servers[fi_rng_below(&c->rng, SERVERS - 1)].fiber);
    }
    atomic_fetch_sub(&clients_left, 1);
}

/* ---- the test ---- */

static uint64_t seed;

/* The last server is a thread. */
static void start_servers(void)
{
    for (int i = 0; i < SERVERS; i++) {
        servers[i] = (server){0};
        fi_rng_seed(&servers[i].rng, seed + 100 + (uint64_t)i);
        if (i < SERVERS - 1)
            CHECK((servers[i].fiber = filch_fiber_start(server_main, &servers[i])) != NULL);
        else
            CHECK_INT(pthread_create(&servers[i].thread, NULL, server_main, &servers[i]), 0);
    }
}

static void end_servers(void)
{
    for (int i = 0; i < SERVERS; i++) {
        request none = {0};
        CHECK_INT(filch_chan_send(requests, &none), 0);
    }
    for (int i = 0; i < SERVERS; i++) {
        if (i < SERVERS - 1)
            CHECK_INT(filch_fiber_join(servers[i].fiber, NULL), 0);
        else
            CHECK_INT(pthread_join(servers[i].thread, NULL), 0);
        CHECK_INT(servers[i].wrong, 0);
    }
}

static void replies(void)
{
    client clients[CLIENTS];

    requests = filch_chan_new(sizeof(request), 0);
    never = filch_chan_new(sizeof(long), 0);
    start_servers();
    atomic_store(&clients_left, CLIENTS);
    for (int i = 0; i < CLIENTS; i++) {
        clients[i] = (client){.asks = SCALED(10000)};
        fi_rng_seed(&clients[i].rng, seed + (uint64_t)i);
        CHECK_INT(filch_go(client_main, &clients[i]), 0);
    }
    while (atomic_load(&clients_left) > 0)
        filch_yield();
    for (int i = 0; i < CLIENTS; i++)
        CHECK_INT(clients[i].wrong, 0);
    end_servers();
    filch_chan_free(requests);
    filch_chan_free(never);
}

/* Freed memory is overwritten, so that a late reader does not find a lock that is free.  Volatile,
 * because a compiler removes stores before a free. */
static void *(*volatile fill)(void *, int, size_t) = memset;

static void *get(void *ctx, size_t size, size_t align)
{
    (void)ctx;
    return aligned_alloc(align, (size + align - 1) / align * align);
}

static void put(void *ctx, void *block, size_t size, size_t align)
{
    (void)ctx, (void)align;
    fill(block, 0xa5, size);
    free(block);
}

static void test_freed_by_the_partner(void **state)
{
    (void)state;
    seed = seed_get();
    CHECK_INT(filch_set_allocator(&(filch_allocator){get, put, NULL}), 0);
    workers_each(NULL, replies);
}

CHECK_MAIN(test_freed_by_the_partner)
