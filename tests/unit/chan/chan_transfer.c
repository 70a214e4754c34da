/* Channels: items come out as they went in, and whoever waits is served in turn. */
#include "unit/chan/helpers.h"

#include "base/rng.h"
#include "seed.h"

static const size_t sizes[] = {0, 1, 4, 8, 100};
enum { SIZES = sizeof sizes / sizeof sizes[0], LARGEST = 100 };

/* ---- between two ---- */

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

static void play_stream(caller *a)
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

/* Both are callers, so that there is a pair of fibers too. */
static void streams(void)
{
    for (size_t capacity = 0; capacity < 4; capacity++) {
        filch_chan *c = chan_of_longs(capacity);
        caller from = {.call = play_stream, .chan = c}, to = {.call = expect_stream, .chan = c};
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

/* What comes out is what went in, and nothing behind it is written. */
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

/* In a thread, and on a fiber, who becomes the latch's favourite. */
static void rings(void **state)
{
    (void)state;
    seed = seed_get();
    rings_in_fiber(NULL);
    CHECK_INT(filch_main(rings_in_fiber, NULL), 0);
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

static void first_come_first_served(void)
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

/* ---- the same for who is the latch's favourite, whose way is another ---- */

/* So often in a row that one worker is. */
static void warm(filch_chan *c)
{
    for (long i = 0; i < 1000; i++) {
        send_one(c, i);
        CHECK_INT(receive_one(c), i);
    }
    CHECK(!fi_fence_one_sided || fi_load_relaxed(&c->lock.favourite) != FI_LOCK_UNBIASED);
}

static void serves_waiters(filch_chan *c)
{
    caller sender = {.call = do_send, .chan = c, .item = 3};
    caller receiver = {.call = do_recv, .chan = c};

    warm(c);
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

static void favourite(void *arg)
{
    filch_chan *c = chan_of_longs(2);
    long item = 5;

    (void)arg;
    callers_are_threads = false;
    serves_waiters(c);
    warm(c);
    send_one(c, 6);
    CHECK_INT(filch_chan_close(c), 0);
    CHECK_INT(filch_chan_send(c, &item), -EPIPE);
    CHECK_INT(filch_chan_try_send(c, &item), -EPIPE);
    CHECK_INT(receive_one(c), 6);
    CHECK_INT(filch_chan_recv(c, &item), -EPIPE);
    filch_chan_free(c);
}

/* With one worker, as with more of them an caller may take the latch away. */
static void by_the_favourite(void **state)
{
    (void)state;
    CHECK_INT(filch_start(&(filch_config){.workers = 1}), 0);
    CHECK_INT(filch_main(favourite, NULL), 0);
}

/* ---- straight from one to the other, in all sizes, and with no item ---- */

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

static void hand_over(size_t size, unsigned char *from, unsigned char *to, bool sender_waits)
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

static void hand_over_all(size_t size, bool sender_waits)
{
    unsigned char from[LARGEST + 1], to[LARGEST + 1], zeros[LARGEST + 1] = {0};

    fill(from, size, 3);
    memset(to, 0xee, sizeof to);
    hand_over(size, from, to, sender_waits);
    check_item(to, size, 3);
    hand_over(size, from, NULL, sender_waits);
    hand_over(size, NULL, to, sender_waits);
    CHECK(memcmp(to, zeros, size) == 0);
    CHECK_INT(to[size], 0xee);
    hand_over(size, NULL, NULL, sender_waits);
}

static void sizes_handed_over(void)
{
    for (int i = 0; i < SIZES; i++)
        for (int k = 0; k < 2; k++)
            hand_over_all(sizes[i], k);
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
WITH_CALLERS(first_come_first_served)
WITH_CALLERS(sizes_handed_over)
WITH_CALLERS(no_item_through_ring)
WITH_CALLERS(in_tasks)

CHECK_MAIN(without_a_runtime, rings, by_the_favourite, test_rendezvous, test_streams,
           test_ring_is_refilled, test_first_come_first_served, test_sizes_handed_over,
           test_no_item_through_ring, test_in_tasks)
