/* Items arrive unchanged and in order, and waiters are served in FIFO order. */
#include "main_fiber.h"
#include "unit/chan/helpers.h"

#include "base/rng.h"
#include "seed.h"

static const size_t sizes[] = {0, 1, 4, 8, 100};
enum { SIZES = sizeof sizes / sizeof sizes[0], LARGEST = 100 };

/* ---- one sender, one receiver ---- */

static void rendezvous(void)
{
    filch_chan *c = chan_of_longs(0);
    caller receiver = {.call = do_recv, .chan = c},
           sender = {.call = do_send, .chan = c, .item = 5};

    CHECK_INT(filch_chan_size(c), 0);
    CHECK_INT(filch_chan_capacity(c), 0);
    caller_start(&receiver);
    await_receivers(c, 1);
    send_one(c, 7);
    CHECK_INT(caller_join(&receiver), 0);
    CHECK_INT(receiver.item, 7);
    caller_start(&sender);
    await_senders(c, 1);
    CHECK_INT(receive_one(c), 5);
    CHECK_INT(caller_join(&sender), 0);
    check_no_waiters(c);
    filch_chan_free(c);
}

enum { STREAM = 20000 };

static void send_stream(caller *a)
{
    for (long i = 0; i < SCALED(STREAM); i++)
        a->result |= filch_chan_send(a->chan, &i);
    a->result |= filch_chan_close(a->chan);
}

static void expect_stream(caller *a)
{
    long item;

    while (filch_chan_recv(a->chan, &item) == 0)
        a->result |= item != a->item++;
}

/* Both ends are callers, so that two fibers are tested as well. */
static void streams(void)
{
    for (size_t capacity = 0; capacity < 4; capacity++) {
        filch_chan *c = chan_of_longs(capacity);
        caller from = {.call = send_stream, .chan = c}, to = {.call = expect_stream, .chan = c};
        caller_start(&to);
        caller_start(&from);
        CHECK_INT(caller_join(&from), 0);
        CHECK_INT(caller_join(&to), 0);
        CHECK_INT(to.item, SCALED(STREAM));
        filch_chan_free(c);
    }
}

/* ---- the ring ---- */

static void fill(unsigned char *item, size_t size, unsigned number)
{
    for (size_t i = 0; i < size; i++)
        item[i] = (unsigned char)((size_t)number * 31 + i);
}

/* The item is unchanged, and no byte behind it is written. */
static void check_item(const unsigned char *item, size_t size, unsigned number)
{
    unsigned char expected[LARGEST + 1];

    fill(expected, size, number);
    expected[size] = 0xee;
    CHECK(memcmp(item, expected, size + 1) == 0);
}

static void ring_against_counters(fi_rng *r, size_t size, size_t capacity)
{
    filch_chan *c = filch_chan_new(size, capacity);
    unsigned in = 0, out = 0;

    CHECK(c != NULL);
    CHECK_INT(filch_chan_capacity(c), capacity);
    for (int i = 0; i < 1000; i++) {
        unsigned char item[LARGEST + 1];
        memset(item, 0xee, sizeof item);
        if (fi_rng_below(r, 2)) {
            fill(item, size, in);
            CHECK_INT(filch_chan_try_send(c, item), in - out < capacity ? 0 : -EAGAIN);
            in += in - out < capacity;
        } else if (in == out) {
            CHECK_INT(filch_chan_try_recv(c, item), -EAGAIN);
        } else {
            CHECK_INT(filch_chan_try_recv(c, item), 0);
            check_item(item, size, out++);
        }
        CHECK_INT(filch_chan_size(c), in - out);
    }
    filch_chan_free(c);
}

static uint64_t seed;

static void rings_in_fiber(void *arg)
{
    fi_rng r;

    (void)arg;
    fi_rng_seed(&r, seed);
    for (size_t capacity = 1; capacity < 6; capacity++)
        for (int i = 0; i < SIZES; i++)
            ring_against_counters(&r, sizes[i], capacity);
}

/* In a thread, and on a fiber whose worker gets the bias of the lock. */
static void rings(void **state)
{
    (void)state;
    seed = seed_get();
    rings_in_fiber(NULL);
    CHECK_INT(run_main_fiber(rings_in_fiber, NULL), 0);
}

static void ring_is_refilled(void)
{
    filch_chan *c = chan_of_longs(2);
    caller senders[3];

    send_one(c, 0);
    send_one(c, 1);
    for (int i = 0; i < 3; i++) {
        senders[i] = (caller){.call = do_send, .chan = c, .item = i + 2};
        caller_start(&senders[i]);
        await_senders(c, (size_t)i + 1);
    }
    for (int i = 0; i < 5; i++) {
        CHECK_INT(filch_chan_size(c), i < 4 ? 2 : 1);
        CHECK_INT(receive_one(c), i);
        CHECK_INT(queue_length(c, &c->senders), i < 2 ? 2 - i : 0);
    }
    for (int i = 0; i < 3; i++)
        CHECK_INT(caller_join(&senders[i]), 0);
    CHECK_INT(filch_chan_size(c), 0);
    filch_chan_free(c);
}

static void fifo_order(void)
{
    filch_chan *c = chan_of_longs(1);
    caller receivers[4];

    for (int i = 0; i < 4; i++) {
        receivers[i] = (caller){.call = do_recv, .chan = c};
        caller_start(&receivers[i]);
        await_receivers(c, (size_t)i + 1);
    }
    for (long i = 0; i < 4; i++)
        send_one(c, i);
    for (int i = 0; i < 4; i++) {
        CHECK_INT(caller_join(&receivers[i]), 0);
        CHECK_INT(receivers[i].item, i);
    }
    CHECK_INT(filch_chan_size(c), 0);
    filch_chan_free(c);
}

/* ---- the fast path, with the lock biased to the worker ---- */

/* Use the channel often enough that its lock is biased to this worker. */
static void bias_lock(filch_chan *c)
{
    for (long i = 0; i < 1000; i++) {
        send_one(c, i);
        CHECK_INT(receive_one(c), i);
    }
    CHECK(!fi_fence_one_sided || fi_load_relaxed(&c->lock.bias) != FI_LOCK_UNBIASED);
}

static void serves_waiters(filch_chan *c)
{
    caller sender = {.call = do_send, .chan = c, .item = 3};
    caller receiver = {.call = do_recv, .chan = c};

    bias_lock(c);
    send_one(c, 1);
    send_one(c, 2);
    caller_start(&sender);
    await_senders(c, 1);
    CHECK_INT(receive_one(c), 1);
    CHECK_INT(filch_chan_size(c), 2);
    CHECK_INT(receive_one(c), 2);
    CHECK_INT(receive_one(c), 3);
    CHECK_INT(caller_join(&sender), 0);
    caller_start(&receiver);
    await_receivers(c, 1);
    send_one(c, 4);
    CHECK_INT(filch_chan_size(c), 0);
    CHECK_INT(caller_join(&receiver), 0);
    CHECK_INT(receiver.item, 4);
}

static void biased_worker(void *arg)
{
    filch_chan *c = chan_of_longs(2);
    long item = 5;

    (void)arg;
    callers_are_threads = false;
    serves_waiters(c);
    bias_lock(c);
    send_one(c, 6);
    CHECK_INT(filch_chan_close(c), 0);
    CHECK_INT(filch_chan_send(c, &item), -EPIPE);
    CHECK_INT(filch_chan_try_send(c, &item), -EPIPE);
    CHECK_INT(receive_one(c), 6);
    CHECK_INT(filch_chan_recv(c, &item), -EPIPE);
    filch_chan_free(c);
}

/* With one worker.  With more, a caller on another worker could revoke the bias. */
static void on_the_biased_worker(void **state)
{
    (void)state;
    CHECK_INT(filch_start(&(filch_config){.workers = 1}), 0);
    CHECK_INT(run_main_fiber(biased_worker, NULL), 0);
    CHECK_INT(filch_stop(), 0);
}

/* ---- direct transfer of all sizes, and without an item ---- */

typedef struct parcel {
    filch_chan *chan;
    unsigned char *item;
} parcel;

static void *send_parcel(void *arg)
{
    parcel *p = arg;

    return (void *)(intptr_t)filch_chan_send(p->chan, p->item);
}

static void *receive_parcel(void *arg)
{
    parcel *p = arg;

    return (void *)(intptr_t)filch_chan_recv(p->chan, p->item);
}

static void transfer(size_t size, unsigned char *from, unsigned char *to, bool sender_waits)
{
    filch_chan *c = filch_chan_new(size, 0);
    parcel out = {c, from}, in = {c, to};
    filch_fiber *f =
        filch_fiber_start(sender_waits ? send_parcel : receive_parcel, sender_waits ? &out : &in);
    void *result;

    if (sender_waits) {
        await_senders(c, 1);
        CHECK_INT(filch_chan_recv(c, to), 0);
    } else {
        await_receivers(c, 1);
        CHECK_INT(filch_chan_send(c, from), 0);
    }
    CHECK_INT(filch_fiber_join(f, &result), 0);
    CHECK(result == NULL);
    filch_chan_free(c);
}

static void transfer_all(size_t size, bool sender_waits)
{
    unsigned char from[LARGEST + 1], to[LARGEST + 1], zeros[LARGEST + 1] = {0};

    fill(from, size, 3);
    memset(to, 0xee, sizeof to);
    transfer(size, from, to, sender_waits);
    check_item(to, size, 3);
    transfer(size, from, NULL, sender_waits);
    transfer(size, NULL, to, sender_waits);
    CHECK(memcmp(to, zeros, size) == 0);
    CHECK_INT(to[size], 0xee);
    transfer(size, NULL, NULL, sender_waits);
}

static void direct_transfer(void)
{
    for (int i = 0; i < SIZES; i++)
        for (int k = 0; k < 2; k++)
            transfer_all(sizes[i], k);
}

static void no_item_through_ring(void)
{
    filch_chan *c = chan_of_longs(2);
    long item = 9;

    CHECK_INT(filch_chan_send(c, NULL), 0);
    CHECK_INT(filch_chan_send(c, &item), 0);
    CHECK_INT(receive_one(c), 0);
    CHECK_INT(filch_chan_recv(c, NULL), 0);
    CHECK_INT(filch_chan_try_recv(c, &item), -EAGAIN);
    filch_chan_free(c);
}

/* ---- in tasks ---- */

FILCH_TASK(long, add_up, filch_chan *, c, int, depth)
{
    if (depth == 0)
        return receive_one(c);
    FILCH_SPAWN(add_up, c, depth - 1);
    long b = FILCH_CALL(add_up, c, depth - 1);
    return FILCH_SYNC(add_up) + b;
}

static void send_numbers(caller *a)
{
    for (long i = 0; i < a->item; i++)
        a->result |= filch_chan_send(a->chan, &i);
}

static void in_tasks(void)
{
    for (size_t capacity = 0; capacity < 3; capacity++) {
        filch_chan *c = chan_of_longs(capacity);
        caller a = {.call = send_numbers, .chan = c, .item = 256};
        caller_start(&a);
        CHECK_INT(FILCH_RUN(add_up, c, 8), 255 * 256 / 2);
        CHECK_INT(caller_join(&a), 0);
        filch_chan_free(c);
    }
}

/* ---- without a runtime ---- */

static void without_a_runtime(void **state)
{
    (void)state;
    callers_are_threads = true;
    rendezvous();
    streams();
    CHECK_INT(filch_worker_count(), 0);
}

WITH_CALLERS(rendezvous)
WITH_CALLERS(streams)
WITH_CALLERS(ring_is_refilled)
WITH_CALLERS(fifo_order)
WITH_CALLERS(direct_transfer)
WITH_CALLERS(no_item_through_ring)
WITH_CALLERS(in_tasks)

CHECK_MAIN(without_a_runtime, rings, on_the_biased_worker, test_rendezvous, test_streams,
           test_ring_is_refilled, test_fifo_order, test_direct_transfer, test_no_item_through_ring,
           test_in_tasks)
