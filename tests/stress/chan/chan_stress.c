/* Fibers and threads send and receive through shared channels in every way, with deadlines,
 * cancellation and closing.  Each sent item is received exactly once.  FILCH_SEED=… repeats the
 * settings of a run. */
#include "unit/task/helpers.h"

#include "base/atomic.h"
#include "base/rng.h"
#include "seed.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>

enum { CHANS = 6, PARTIES = 16, ITEMS = 300 };

typedef struct chan_user {
    void (*run)(struct chan_user *p);
    fi_rng rng;
    unsigned open;    /* bit set of channels that are not known to be closed */
    long first, next; /* of its own items */
    bool is_thread;
    filch_fiber *fiber;
    pthread_t thread;
} chan_user;

static filch_chan *chans[CHANS];
static uint32_t n_chans;
static atomic_int sent[PARTIES * ITEMS], received[PARTIES * ITEMS];
static atomic_long n_received;
static atomic_int senders_left;
static chan_user parties[PARTIES];
static int n_parties;

/* ---- single calls ---- */

static uint32_t random_open(chan_user *p)
{
    uint32_t k;

    do
        k = fi_rng_below(&p->rng, n_chans);
    while (!(p->open & 1u << k));
    return k;
}

static int64_t soon(chan_user *p)
{
    return filch_now() + FILCH_US(fi_rng_below(&p->rng, 20));
}

static void count_received(long item)
{
    CHECK(item >= 0 && item < (long)PARTIES * ITEMS);
    atomic_fetch_add(&received[item], 1);
    atomic_fetch_add(&n_received, 1);
}

static void count_sent(chan_user *p)
{
    atomic_fetch_add(&sent[p->next], 1);
    p->next++;
}

/* The channel is closed, or the call can be repeated. */
static void handle_error(chan_user *p, uint32_t k, int e)
{
    if (e == -EPIPE)
        p->open &= ~(1u << k);
    else if (e == -ECANCELED)
        CHECK(filch_fiber_uncancel());
    else
        CHECK(e == -EAGAIN || e == -ETIMEDOUT);
    if (e == -EAGAIN)
        filch_yield();
}

static void send_one(chan_user *p)
{
    uint32_t k = random_open(p), how = fi_rng_below(&p->rng, 4);
    long item = p->next;
    int e = how == 0   ? filch_chan_try_send(chans[k], &item)
            : how == 1 ? filch_chan_send_until(chans[k], &item, soon(p))
                       : filch_chan_send(chans[k], &item);

    if (e == 0)
        count_sent(p);
    else
        handle_error(p, k, e);
}

static void receive_one(chan_user *p)
{
    uint32_t k = random_open(p), how = fi_rng_below(&p->rng, 4);
    long item = -1;
    int e = how == 0   ? filch_chan_try_recv(chans[k], &item)
            : how == 1 ? filch_chan_recv_until(chans[k], &item, soon(p))
                       : filch_chan_recv(chans[k], &item);

    if (e == 0)
        count_received(item);
    else
        handle_error(p, k, e);
}

static int select_randomly(chan_user *p, filch_case *cases, size_t n)
{
    switch (fi_rng_below(&p->rng, 4)) {
    case 0:
        return filch_try_select(cases, n);
    case 1:
        return filch_select_until(cases, n, soon(p));
    default:
        return filch_select(cases, n);
    }
}

/* The same channel may come several times, and in both directions. */
static void select_some(chan_user *p, bool sends, bool receives)
{
    filch_case cases[CHANS];
    uint32_t which[CHANS], n = 1 + fi_rng_below(&p->rng, CHANS);
    long in[CHANS], out = p->next;
    int k;

    for (uint32_t i = 0; i < n; i++) {
        bool is_send = sends && (!receives || i == 0 || fi_rng_below(&p->rng, 2));
        which[i] = random_open(p);
        in[i] = -1;
        cases[i] = (filch_case){is_send ? FILCH_CASE_KIND_SEND : FILCH_CASE_KIND_RECV,
                                chans[which[i]], is_send ? &out : &in[i], 1};
    }
    k = select_randomly(p, cases, n);
    if (k < 0)
        handle_error(p, 0, k);
    else if (cases[k].result < 0)
        handle_error(p, which[k], cases[k].result);
    else if (cases[k].kind == FILCH_CASE_KIND_SEND)
        count_sent(p);
    else
        count_received(in[k]);
    for (int i = 0; i < (int)n; i++)
        CHECK(i == k || (in[i] == -1 && cases[i].result == 1));
}

/* ---- users of the channels ---- */

static bool has_more(const chan_user *p)
{
    return p->open && p->next < p->first + SCALED(ITEMS);
}

static void run_sender(chan_user *p)
{
    while (has_more(p)) {
        if (fi_rng_below(&p->rng, 2))
            send_one(p);
        else
            select_some(p, true, false);
    }
    atomic_fetch_sub(&senders_left, 1);
}

static void run_both(chan_user *p)
{
    while (has_more(p))
        select_some(p, true, true);
    atomic_fetch_sub(&senders_left, 1);
}

static void run_receiver(chan_user *p)
{
    while (p->open) {
        if (fi_rng_below(&p->rng, 2))
            receive_one(p);
        else
            select_some(p, false, true);
    }
}

/* One fiber receives from all channels, so that no sender waits forever. */
static void run_drain(chan_user *p)
{
    while (p->open) {
        filch_case cases[CHANS];
        long item = -1;
        int k;
        for (uint32_t i = 0; i < n_chans; i++)
            cases[i] = (filch_case)FILCH_CASE_RECV(p->open & 1u << i ? chans[i] : NULL, &item);
        k = filch_select(cases, n_chans);
        if (k < 0)
            handle_error(p, 0, k);
        else if (cases[k].result < 0)
            handle_error(p, (uint32_t)k, cases[k].result);
        else
            count_received(item);
    }
}

static void *chan_user_main(void *arg)
{
    chan_user *p = arg;

    p->run(p);
    return NULL;
}

static void chan_user_start(fi_rng *r, void (*run)(chan_user *p))
{
    chan_user *p = &parties[n_parties];

    *p = (chan_user){.run = run, .open = (1u << n_chans) - 1, .is_thread = fi_rng_below(r, 3) == 0};
    p->first = p->next = (long)n_parties++ * ITEMS;
    fi_rng_seed(&p->rng, fi_rng_next(r));
    if (p->is_thread)
        CHECK_INT(pthread_create(&p->thread, NULL, chan_user_main, p), 0);
    else
        CHECK((p->fiber = filch_fiber_start(chan_user_main, p)) != NULL);
}

static void chan_user_join(chan_user *p)
{
    if (p->is_thread)
        pthread_join(p->thread, NULL);
    else
        CHECK_INT(filch_fiber_join(p->fiber, NULL), 0);
}

/* ---- a round ---- */

static void round_begin(fi_rng *r)
{
    n_chans = 1 + fi_rng_below(r, CHANS);
    for (uint32_t i = 0; i < n_chans; i++)
        CHECK((chans[i] = filch_chan_new(sizeof(long), fi_rng_below(r, 5))) != NULL);
    for (int i = 0; i < PARTIES * ITEMS; i++) {
        atomic_store(&sent[i], 0);
        atomic_store(&received[i], 0);
    }
    atomic_store(&n_received, 0);
    n_parties = 0;
}

static void start_all(fi_rng *r)
{
    uint32_t senders = 1 + fi_rng_below(r, 6), both = fi_rng_below(r, 4),
             receivers = fi_rng_below(r, 6);

    atomic_store(&senders_left, (int)(senders + both));
    chan_user_start(r, run_drain);
    for (uint32_t i = 0; i < senders; i++)
        chan_user_start(r, run_sender);
    for (uint32_t i = 0; i < both; i++)
        chan_user_start(r, run_both);
    for (uint32_t i = 0; i < receivers; i++)
        chan_user_start(r, run_receiver);
}

static void cancel_some(fi_rng *r)
{
    for (uint32_t n = fi_rng_below(r, 30); n > 0; n--) {
        chan_user *p = &parties[fi_rng_below(r, (uint32_t)n_parties)];
        if (!p->is_thread)
            filch_fiber_cancel(p->fiber);
        filch_yield();
    }
}

/* With early, channels are closed while there is more to send; otherwise when all was sent. */
static void close_all(fi_rng *r, bool early)
{
    for (uint32_t i = 0; i < n_chans; i++) {
        long enough = fi_rng_below(r, SCALED(ITEMS));
        while (atomic_load(&senders_left) > 0 && !(early && atomic_load(&n_received) >= enough))
            filch_yield();
        CHECK_INT(filch_chan_close(chans[i]), 0);
    }
}

static void check_items(bool early)
{
    long sum = 0;

    for (int i = 0; i < PARTIES * ITEMS; i++) {
        CHECK_INT(atomic_load(&received[i]), atomic_load(&sent[i]));
        sum += atomic_load(&received[i]);
    }
    CHECK_INT(sum, atomic_load(&n_received));
    for (int i = 0; i < n_parties; i++)
        if (!early && (parties[i].run == run_sender || parties[i].run == run_both))
            CHECK_INT(parties[i].next - parties[i].first, SCALED(ITEMS));
}

static void round_end(bool early)
{
    for (int i = 0; i < n_parties; i++)
        chan_user_join(&parties[i]);
    for (uint32_t i = 0; i < n_chans; i++) {
        CHECK_INT(filch_chan_size(chans[i]), 0);
        filch_chan_free(chans[i]);
    }
    check_items(early);
}

static void run_round(fi_rng *r)
{
    bool early = fi_rng_below(r, 2);

    round_begin(r);
    start_all(r);
    cancel_some(r);
    close_all(r, early);
    cancel_some(r);
    round_end(early);
}

/* ---- a pair, and a thread that interferes ---- */

/* The lock of a channel between two fibers of one worker is biased to that worker.  A thread
 * revokes the bias while they use it. */
static filch_chan *pair;
static long pair_n;
static atomic_long pair_sum;

static void *pair_send(void *arg)
{
    (void)arg;
    for (long i = 1; i <= pair_n; i++)
        CHECK_INT(filch_chan_send(pair, &i), 0);
    CHECK_INT(filch_chan_close(pair), 0);
    return NULL;
}

static void *pair_receive(void *arg)
{
    (void)arg;
    for (long item; filch_chan_recv(pair, &item) == 0;)
        atomic_fetch_add(&pair_sum, item);
    return NULL;
}

static void interfere(fi_rng *r)
{
    long item;
    int e;

    while ((e = filch_chan_try_recv(pair, &item)) != -EPIPE) {
        if (e == 0)
            atomic_fetch_add(&pair_sum, item);
        for (uint32_t n = fi_rng_below(r, 2000); n > 0; n--)
            fi_pause();
    }
}

static fi_rng rng;

static void pair_with_interference(void)
{
    for (size_t capacity = 0; capacity < 3; capacity++) {
        filch_fiber *sender, *receiver;
        pair_n = SCALED(200000);
        atomic_store(&pair_sum, 0);
        CHECK((pair = filch_chan_new(sizeof(long), capacity)) != NULL);
        CHECK((sender = filch_fiber_start(pair_send, NULL)) != NULL);
        CHECK((receiver = filch_fiber_start(pair_receive, NULL)) != NULL);
        interfere(&rng);
        CHECK_INT(filch_fiber_join(sender, NULL), 0);
        CHECK_INT(filch_fiber_join(receiver, NULL), 0);
        CHECK_INT(atomic_load(&pair_sum), pair_n * (pair_n + 1) / 2);
        filch_chan_free(pair);
    }
}

static void run_rounds(void)
{
    for (int i = 0; i < SCALED(60); i++)
        run_round(&rng);
}

static void test_random_use(void **state)
{
    (void)state;
    fi_rng_seed(&rng, seed_get());
    workers_each(NULL, run_rounds);
}

static void test_pair_with_interference(void **state)
{
    (void)state;
    fi_rng_seed(&rng, seed_get());
    workers_each(NULL, pair_with_interference);
}

CHECK_MAIN(test_random_use, test_pair_with_interference)
