/* Closing a channel, deadlines and cancellation end waits.  Misuse aborts with a message. */
#include "unit/chan/helpers.h"

#include "child.h"

/* ---- close ---- */

/* The item of the chosen case is cleared if it receives.  The other items do not change. */
static void select_closed(filch_chan *c)
{
    long items[2] = {42, 42};
    filch_case cases[2] = {{FILCH_CASE_KIND_RECV, c, &items[0], 0},
                           {FILCH_CASE_KIND_SEND, c, &items[1], 0}};
    int chosen = filch_select(cases, 2);

    CHECK(chosen >= 0);
    CHECK_INT(cases[chosen].result, -EPIPE);
    CHECK_INT(items[0], chosen == 0 ? 0 : 42);
    CHECK_INT(items[1], 42);
    cases[0].item = NULL;
    CHECK_INT(filch_try_select(cases, 1), 0);
}

static void check_closed(filch_chan *c)
{
    long item = 42;

    CHECK_INT(filch_chan_close(c), -EPIPE);
    CHECK_INT(filch_chan_send(c, &item), -EPIPE);
    CHECK_INT(filch_chan_try_send(c, &item), -EPIPE);
    CHECK_INT(filch_chan_send_until(c, &item, 0), -EPIPE);
    CHECK_INT(item, 42);
    CHECK_INT(filch_chan_recv(c, &item), -EPIPE);
    CHECK_INT(item, 0);
    item = 42;
    CHECK_INT(filch_chan_try_recv(c, &item), -EPIPE);
    CHECK_INT(item, 0);
    item = 42;
    CHECK_INT(filch_chan_recv_until(c, &item, 0), -EPIPE);
    CHECK_INT(item, 0);
    CHECK_INT(filch_chan_recv(c, NULL), -EPIPE);
    select_closed(c);
}

static void close_with_items(size_t capacity, long items)
{
    filch_chan *c = chan_of_longs(capacity);

    for (long i = 0; i < items; i++)
        send_one(c, i);
    CHECK_INT(filch_chan_close(c), 0);
    CHECK_INT(filch_chan_send(c, &items), -EPIPE);
    for (long i = 0; i < items; i++)
        CHECK_INT(receive_one(c), i);
    check_closed(c);
    filch_chan_free(c);
}

static void close_with_waiters(size_t capacity, void (*call)(caller *a))
{
    filch_chan *c = chan_of_longs(capacity);
    caller waiters[3];

    for (long i = 0; call == do_send && i < (long)capacity; i++)
        send_one(c, i);
    for (int i = 0; i < 3; i++) {
        waiters[i] = (caller){.call = call, .chan = c, .item = 42};
        caller_start(&waiters[i]);
    }
    if (call == do_send)
        await_senders(c, 3);
    else
        await_receivers(c, 3);
    CHECK_INT(filch_chan_close(c), 0);
    check_no_waiters(c);
    for (int i = 0; i < 3; i++) {
        CHECK_INT(caller_join(&waiters[i]), -EPIPE);
        CHECK_INT(waiters[i].item, call == do_recv ? 0 : 42);
    }
    for (long i = 0; call == do_send && i < (long)capacity; i++)
        CHECK_INT(receive_one(c), i);
    check_closed(c);
    filch_chan_free(c);
}

static void closing(void)
{
    close_with_items(0, 0);
    close_with_items(2, 0);
    close_with_items(2, 1);
    close_with_items(2, 2);
    for (size_t capacity = 0; capacity < 3; capacity++) {
        close_with_waiters(capacity, do_send);
        close_with_waiters(capacity, do_recv);
    }
}

/* ---- deadlines and cancellation ---- */

static void deadline_passes(void)
{
    filch_chan *c = chan_of_longs(0);
    int64_t past[] = {INT64_MIN, -1, 1, filch_now()};

    for (int i = 0; i < 8; i++) {
        int64_t deadline = i < 4 ? past[i] : filch_now() + FILCH_US(100) * i;
        caller sender = {.call = do_send, .chan = c, .deadline = deadline};
        caller receiver = {.call = do_recv, .chan = c, .deadline = deadline, .item = 42};
        caller_start(&sender);
        CHECK_INT(caller_join(&sender), -ETIMEDOUT);
        caller_start(&receiver);
        CHECK_INT(caller_join(&receiver), -ETIMEDOUT);
        CHECK_INT(receiver.item, 42);
        if (i >= 4)
            CHECK(filch_now() >= deadline);
    }
    check_no_waiters(c);
    filch_chan_free(c);
}

static void deadline_not_reached(void)
{
    filch_chan *c = chan_of_longs(0);
    int64_t deadline = filch_now() + FILCH_S(600);
    caller sender = {.call = do_send, .chan = c, .deadline = deadline, .item = 3};
    caller receiver = {.call = do_recv, .chan = c, .deadline = deadline};

    caller_start(&sender);
    await_senders(c, 1);
    CHECK_INT(receive_one(c), 3);
    CHECK_INT(caller_join(&sender), 0);
    caller_start(&receiver);
    await_receivers(c, 1);
    send_one(c, 4);
    CHECK_INT(caller_join(&receiver), 0);
    CHECK_INT(receiver.item, 4);
    filch_chan_free(c);
}

/* Waiters behind a cancelled one are served in order. */
static void cancelled(void)
{
    filch_chan *c = chan_of_longs(0);
    caller receivers[3];

    callers_are_threads = false;
    for (int i = 0; i < 3; i++) {
        receivers[i] = (caller){.call = do_recv, .chan = c};
        caller_start(&receivers[i]);
        await_receivers(c, (size_t)i + 1);
    }
    filch_fiber_cancel(receivers[1].fiber);
    CHECK_INT(caller_join(&receivers[1]), -ECANCELED);
    send_one(c, 1);
    send_one(c, 2);
    CHECK_INT(caller_join(&receivers[0]), 0);
    CHECK_INT(receivers[0].item, 1);
    CHECK_INT(caller_join(&receivers[2]), 0);
    CHECK_INT(receivers[2].item, 2);
    filch_chan_free(c);
}

static void send_when_cancelled(caller *a)
{
    while (!filch_fiber_is_cancelled())
        filch_yield();
    a->result = filch_chan_send(a->chan, &a->item);     /* the ring has space */
    a->item = filch_chan_send(a->chan, &a->item);       /* the ring is full */
    a->n = (size_t)-filch_chan_try_send(a->chan, NULL); /* does not wait */
}

static void cancelled_before_wait(void)
{
    filch_chan *c = chan_of_longs(1);
    caller a = {.call = send_when_cancelled, .chan = c, .item = 6};

    callers_are_threads = false;
    caller_start(&a);
    filch_fiber_cancel(a.fiber);
    CHECK_INT(caller_join(&a), 0);
    CHECK_INT(a.item, -ECANCELED);
    CHECK_INT(a.n, EAGAIN);
    CHECK_INT(receive_one(c), 6);
    check_no_waiters(c);
    filch_chan_free(c);
}

/* ---- large items and a waiting select ---- */

typedef struct large {
    long words[9];
} large;

static void close_clears_large_items(void)
{
    filch_chan *c = filch_chan_new(sizeof(large), 0), *other = chan_of_longs(0);
    large item, zero = {{0}};
    long untouched = 42;
    filch_case cases[2] = {FILCH_CASE_RECV(c, &item), FILCH_CASE_RECV(other, &untouched)};
    caller a = {.call = do_select, .cases = cases, .n = 2};

    memset(&item, 0x55, sizeof item);
    caller_start(&a);
    await_receivers(c, 1);
    CHECK_INT(filch_chan_close(c), 0);
    CHECK_INT(caller_join(&a), 0);
    CHECK_INT(cases[0].result, -EPIPE);
    CHECK(memcmp(&item, &zero, sizeof item) == 0);
    CHECK_INT(untouched, 42);
    memset(&item, 0x55, sizeof item);
    CHECK_INT(filch_chan_recv(c, &item), -EPIPE);
    CHECK(memcmp(&item, &zero, sizeof item) == 0);
    filch_chan_free(c);
    filch_chan_free(other);
}

/* ---- NULL ---- */

static void null_channel(void **state)
{
    long item = 42;
    filch_case none = FILCH_CASE_RECV(NULL, &item);

    (void)state;
    CHECK_INT(filch_chan_send(NULL, &item), -EINVAL);
    CHECK_INT(filch_chan_send_until(NULL, &item, INT64_MAX), -EINVAL);
    CHECK_INT(filch_chan_try_send(NULL, &item), -EINVAL);
    CHECK_INT(filch_chan_recv(NULL, &item), -EINVAL);
    CHECK_INT(filch_chan_recv_until(NULL, &item, INT64_MAX), -EINVAL);
    CHECK_INT(filch_chan_try_recv(NULL, &item), -EINVAL);
    CHECK_INT(filch_chan_close(NULL), -EINVAL);
    CHECK_INT(filch_chan_size(NULL), 0);
    CHECK_INT(filch_chan_capacity(NULL), 0);
    CHECK_INT(filch_try_select(&none, 1), -EAGAIN);
    filch_chan_free(NULL);
    CHECK_INT(item, 42);
}

/* ---- without a runtime, and misuse ---- */

static void without_a_runtime(void **state)
{
    (void)state;
    callers_are_threads = true;
    closing();
    deadline_passes();
    CHECK_INT(filch_worker_count(), 0);
}

static void free_with_receiver(void)
{
    caller a = {.call = do_recv, .chan = chan_of_longs(0)};

    callers_are_threads = true;
    caller_start(&a);
    await_receivers(a.chan, 1);
    filch_chan_free(a.chan);
}

static void free_with_sender(void)
{
    caller a = {.call = do_send, .chan = chan_of_longs(0)};

    callers_are_threads = true;
    caller_start(&a);
    await_senders(a.chan, 1);
    filch_chan_free(a.chan);
}

static void keep_message(filch_level level, const char *text, void *to)
{
    (void)level;
    snprintf(to, 128, "%s", text);
}

static void misuse(void **state)
{
    size_t before = fi_mem_live().blocks;
    char text[128] = "";

    (void)state;
    filch_set_message_handler(keep_message, text);
    CHECK(filch_chan_new(SIZE_MAX, 5) == NULL && strstr(text, "item_size: too large (1844"));
    CHECK(filch_chan_new(5, SIZE_MAX) == NULL && strstr(text, "capacity: too large (1844"));
    filch_set_message_handler(NULL, NULL);
    CHECK(filch_chan_new(SIZE_MAX, 1) == NULL);
    CHECK(filch_chan_new(1, SIZE_MAX) == NULL);
    CHECK(filch_chan_new(SIZE_MAX / 2, 3) == NULL);
    CHECK(filch_chan_new((size_t)1 << 32, (size_t)1 << 32) == NULL);
    CHECK(filch_chan_new(1, SIZE_MAX - sizeof(filch_chan) + 1) == NULL);
    filch_chan_free(NULL);
    CHECK_INT(fi_mem_live().blocks, before);
    CHECK(aborts_with(free_with_receiver, "filch_chan_free: a call waits at the channel"));
    CHECK(aborts_with(free_with_sender, "filch_chan_free: a call waits at the channel"));
}

WITH_CALLERS(closing)
WITH_CALLERS(deadline_passes)
WITH_CALLERS(deadline_not_reached)
WITH_CALLERS(cancelled)
WITH_CALLERS(cancelled_before_wait)
WITH_CALLERS(close_clears_large_items)

CHECK_MAIN(without_a_runtime, misuse, null_channel, test_closing, test_close_clears_large_items,
           test_deadline_passes, test_deadline_not_reached, test_cancelled,
           test_cancelled_before_wait)
