/* Select completes one case and does not change the others.  Among ready cases the choice is
 * random. */
#include "unit/chan/helpers.h"

#include "base/rng.h"
#include "seed.h"

enum { CHANS = 8 };

static filch_chan *chans[CHANS];

static void make_chans(size_t capacity)
{
    for (int i = 0; i < CHANS; i++)
        CHECK((chans[i] = filch_chan_new(sizeof(long), capacity)) != NULL);
}

static void free_chans(void)
{
    for (int i = 0; i < CHANS; i++) {
        check_no_waiters(chans[i]);
        filch_chan_free(chans[i]);
    }
}

/* ---- ready cases ---- */

static void ready_at_once(void)
{
    long in = -1, out = 5;
    filch_case cases[] = {FILCH_CASE_RECV(chans[0], &in), FILCH_CASE_SEND(chans[1], &out),
                          FILCH_CASE_RECV(NULL, &in)};

    make_chans(1);
    cases[0].chan = chans[0];
    cases[1].chan = chans[1];
    CHECK_INT(filch_try_select(cases, 3), 1);
    CHECK_INT(filch_try_select(cases, 3), -EAGAIN);
    CHECK_INT(filch_select_until(cases, 3, 0), -ETIMEDOUT);
    send_one(chans[0], 6);
    CHECK_INT(filch_select(cases, 3), 0);
    CHECK_INT(cases[0].result, 0);
    CHECK_INT(in, 6);
    CHECK_INT(filch_select_until(cases, 1, 0), -ETIMEDOUT);
    CHECK_INT(receive_one(chans[1]), 5);
    CHECK_INT(filch_select_until(cases, 3, 0), 1);
    CHECK_INT(receive_one(chans[1]), 5);
    free_chans();
}

/* A waiting partner makes a case ready.  The item is transferred directly. */
static void ready_because_partner_waits(void)
{
    long in = -1, out = 8;
    filch_case take[2], give[2];
    caller sender = {.call = do_send, .item = 7}, receiver = {.call = do_recv};

    make_chans(0);
    sender.chan = chans[1];
    receiver.chan = chans[0];
    take[0] = (filch_case)FILCH_CASE_RECV(chans[0], &in);
    take[1] = (filch_case)FILCH_CASE_RECV(chans[1], &in);
    give[0] = (filch_case)FILCH_CASE_SEND(chans[0], &out);
    give[1] = (filch_case)FILCH_CASE_SEND(chans[1], &out);
    caller_start(&sender);
    await_senders(chans[1], 1);
    CHECK_INT(filch_try_select(give, 2), -EAGAIN);
    CHECK_INT(filch_try_select(take, 2), 1);
    CHECK_INT(in, 7);
    CHECK_INT(caller_join(&sender), 0);
    caller_start(&receiver);
    await_receivers(chans[0], 1);
    CHECK_INT(filch_try_select(take, 2), -EAGAIN);
    CHECK_INT(filch_try_select(give, 2), 0);
    CHECK_INT(caller_join(&receiver), 0);
    CHECK_INT(receiver.item, 8);
    free_chans();
}

/* ---- waiting ---- */

/* A select over all channels: receive from the even ones, send to the odd ones. */
static caller all_of(filch_case *cases, long *items)
{
    for (int i = 0; i < CHANS; i++) {
        items[i] = 100 + i;
        cases[i] = (filch_case){i % 2 ? FILCH_CASE_KIND_SEND : FILCH_CASE_KIND_RECV, chans[i],
                                &items[i], 77};
    }
    return (caller){.call = do_select, .cases = cases, .n = CHANS};
}

static void await_all_arms(void)
{
    for (int i = 0; i < CHANS; i += 2) {
        await_receivers(chans[i], 1);
        await_senders(chans[i + 1], 1);
    }
}

static void serve(int i)
{
    long item = 50 + i;

    if (i % 2)
        CHECK_INT(receive_one(chans[i]), 100 + i);
    else
        CHECK_INT(filch_chan_try_send(chans[i], &item), 0);
}

/* Until the select has woken, its other arms may still be in queues.  They must not complete. */
static void check_others_not_ready(void)
{
    long item;

    for (int i = 0; i < CHANS; i += 2) {
        CHECK_INT(filch_chan_try_send(chans[i], &item), -EAGAIN);
        CHECK_INT(filch_chan_try_recv(chans[i + 1], &item), -EAGAIN);
    }
}

static void waits_for_each(void)
{
    make_chans(0);
    for (int i = 0; i < CHANS; i++) {
        filch_case cases[CHANS];
        long items[CHANS];
        caller a = all_of(cases, items);
        caller_start(&a);
        await_all_arms();
        serve(i);
        check_others_not_ready();
        CHECK_INT(caller_join(&a), i);
        for (int k = 0; k < CHANS; k++) {
            CHECK_INT(cases[k].result, k == i ? 0 : 77);
            CHECK_INT(items[k], k == i && k % 2 == 0 ? 50 + i : 100 + k);
            check_no_waiters(chans[k]);
        }
    }
    free_chans();
}

static void closed_while_waiting(void)
{
    for (int i = 0; i < CHANS; i++) {
        filch_case cases[CHANS];
        long items[CHANS];
        make_chans(0);
        caller a = all_of(cases, items);
        caller_start(&a);
        await_all_arms();
        CHECK_INT(filch_chan_close(chans[i]), 0);
        check_no_waiters(chans[i]);
        CHECK_INT(caller_join(&a), i);
        CHECK_INT(cases[i].result, -EPIPE);
        CHECK_INT(filch_select(cases, CHANS), i); /* does not wait */
        CHECK_INT(cases[i].result, -EPIPE);
        free_chans();
    }
}

static void deadline_and_cancel(void)
{
    filch_case cases[CHANS];
    long items[CHANS];
    caller a;

    make_chans(0);
    a = all_of(cases, items);
    a.deadline = filch_now() + FILCH_MS(1);
    caller_start(&a);
    CHECK_INT(caller_join(&a), -ETIMEDOUT);
    CHECK(filch_now() >= a.deadline);
    for (int k = 0; k < CHANS; k++)
        check_no_waiters(chans[k]);
    callers_are_threads = false;
    a = all_of(cases, items);
    caller_start(&a);
    await_all_arms();
    filch_fiber_cancel(a.fiber);
    CHECK_INT(caller_join(&a), -ECANCELED);
    for (int k = 0; k < CHANS; k++)
        CHECK_INT(cases[k].result, 77);
    free_chans();
}

/* ---- the same channel several times ---- */

/* A select does not send to itself. */
static void send_and_receive_on_one(void)
{
    filch_case cases[4];
    long in[2] = {-1, -1}, out = 4;
    caller a = {.call = do_select, .cases = cases, .n = 4};
    int chosen;

    make_chans(0);
    cases[0] = (filch_case)FILCH_CASE_RECV(chans[0], &in[0]);
    cases[1] = (filch_case)FILCH_CASE_SEND(chans[0], &out);
    cases[2] = (filch_case)FILCH_CASE_RECV(chans[0], &in[1]);
    cases[3] = (filch_case)FILCH_CASE_SEND(chans[0], &out);
    CHECK_INT(filch_try_select(cases, 4), -EAGAIN);
    CHECK_INT(filch_select_until(cases, 4, filch_now() + FILCH_US(100)), -ETIMEDOUT);
    caller_start(&a);
    await_receivers(chans[0], 1);
    await_senders(chans[0], 1);
    CHECK_INT(receive_one(chans[0]), 4);
    check_no_waiters(chans[0]); /* at once, because the channel may be freed now */
    CHECK_INT(filch_chan_try_recv(chans[0], &in[0]), -EAGAIN);
    chosen = caller_join(&a);
    CHECK(chosen == 1 || chosen == 3);
    caller_start(&a);
    await_receivers(chans[0], 1);
    send_one(chans[0], 9);
    check_no_waiters(chans[0]);
    chosen = caller_join(&a);
    CHECK(chosen == 0 || chosen == 2);
    CHECK_INT(in[chosen / 2], 9);
    CHECK_INT(in[1 - chosen / 2], -1);
    free_chans();
}

/* Two selects, each with both directions: exactly one transfer takes place. */
static void two_selects_meet(void)
{
    filch_case ours[2], theirs[2];
    long in[2] = {-1, -1}, out[2] = {10, 20};
    caller a = {.call = do_select, .cases = theirs, .n = 2};
    int i, k;

    make_chans(0);
    ours[0] = (filch_case)FILCH_CASE_RECV(chans[0], &in[0]);
    ours[1] = (filch_case)FILCH_CASE_SEND(chans[1], &out[0]);
    theirs[0] = (filch_case)FILCH_CASE_RECV(chans[1], &in[1]);
    theirs[1] = (filch_case)FILCH_CASE_SEND(chans[0], &out[1]);
    for (int round = 0; round < 20; round++) {
        in[0] = in[1] = -1;
        caller_start(&a);
        k = filch_select(ours, 2);
        i = caller_join(&a);
        CHECK_INT(i, 1 - k);
        CHECK_INT(in[0], k == 0 ? 20 : -1);
        CHECK_INT(in[1], k == 1 ? 10 : -1);
    }
    free_chans();
}

/* ---- random choice ---- */

static void choose(const char *ready, long *chosen, int rounds)
{
    filch_case cases[CHANS];

    for (int i = 0; i < CHANS; i++)
        cases[i] = (filch_case)FILCH_CASE_RECV(chans[i], NULL);
    for (int i = 0; i < CHANS; i++)
        if (ready[i] == '1')
            send_one(chans[i], i);
    for (int i = 0; i < rounds; i++) {
        int k = filch_try_select(cases, CHANS);
        CHECK(k >= 0);
        chosen[k]++;
        send_one(chans[k], k);
    }
    for (int i = 0; i < CHANS; i++)
        filch_chan_try_recv(chans[i], NULL);
}

/* A select that only started at a random case would choose the first of two neighbours seven times
 * out of eight. */
static void choice_is_fair(void **state)
{
    static const char *const ready[] = {"11111111", "11000000", "00000011", "10000001"};

    (void)state;
    fi_rng_seed(fi_rng_thread(), seed_get());
    make_chans(1);
    for (int i = 0; i < 4; i++) {
        long chosen[CHANS] = {0};
        choose(ready[i], chosen, 1600);
        for (int k = 0; k < CHANS; k++) {
            long fair = ready[i][k] == '0' ? 0 : i == 0 ? 200 : 800;
            CHECK(chosen[k] >= fair / 2 && chosen[k] <= fair + fair / 2);
        }
    }
    free_chans();
}

/* One channel in four cases, out of four or of twelve.  Each of the four is chosen, whether the
 * channel is ready or the select waits.  The bound is so low that a correct select practically
 * never misses it. */
#define ROUNDS SCALED(4000)

enum { TIMES = 4, MANY = 12 };

typedef struct choice {
    filch_case cases[MANY];
    size_t n;
    long items[TIMES];
    long chosen[TIMES];
} choice;

static void prepare(choice *it, filch_case_kind kind, size_t n)
{
    *it = (choice){.n = n};
    for (size_t i = 0; i < TIMES; i++)
        it->cases[n - 1 - i] = (filch_case){kind, chans[0], &it->items[i], 0};
}

static void check_choice(const choice *it, const char *what)
{
    printf("%s, %zu cases: %ld %ld %ld %ld of %d\n", what, it->n, it->chosen[0], it->chosen[1],
           it->chosen[2], it->chosen[3], ROUNDS);
    for (int i = 0; i < TIMES; i++)
        CHECK(it->chosen[i] >= ROUNDS / 16);
}

static void select_often(caller *a)
{
    choice *it = (choice *)(void *)a->cases;

    for (int i = 0; i < ROUNDS; i++) {
        int k = filch_select(it->cases, it->n);
        if (k < 0 || it->cases[k].result != 0) {
            a->result = -1;
            return;
        }
        it->chosen[it->n - 1 - (size_t)k]++;
    }
    a->result = 0;
}

static void choose_while_waiting(filch_case_kind kind, size_t n)
{
    choice it;
    caller a = {.call = select_often};

    prepare(&it, kind, n);
    a.cases = it.cases;
    caller_start(&a);
    for (int i = 0; i < ROUNDS; i++) {
        if (kind == FILCH_CASE_KIND_RECV) {
            await_receivers(chans[0], 1);
            send_one(chans[0], i);
        } else {
            await_senders(chans[0], 1);
            receive_one(chans[0]);
        }
    }
    CHECK_INT(caller_join(&a), 0);
    check_choice(&it, kind == FILCH_CASE_KIND_RECV ? "waits to receive" : "waits to send");
}

static void choose_when_ready(filch_case_kind kind, size_t n)
{
    choice it;

    prepare(&it, kind, n);
    for (int i = 0; i < ROUNDS; i++) {
        int k;
        if (kind == FILCH_CASE_KIND_RECV)
            send_one(chans[1], i);
        it.cases[n - 1].chan = it.cases[n - 2].chan = chans[1];
        it.cases[n - 3].chan = it.cases[n - 4].chan = chans[1];
        k = filch_select(it.cases, n);
        CHECK(k >= 0);
        it.chosen[n - 1 - (size_t)k]++;
        if (kind == FILCH_CASE_KIND_SEND)
            receive_one(chans[1]);
    }
    check_choice(&it, kind == FILCH_CASE_KIND_RECV ? "ready to receive" : "ready to send");
}

static void fair_on_one_channel(void)
{
    fi_rng_seed(fi_rng_thread(), seed_get());
    make_chans(0);
    filch_chan_free(chans[1]);
    chans[1] = chan_of_longs(1);
    for (size_t n = TIMES; n <= MANY; n += MANY - TIMES) {
        choose_while_waiting(FILCH_CASE_KIND_RECV, n);
        choose_while_waiting(FILCH_CASE_KIND_SEND, n);
        choose_when_ready(FILCH_CASE_KIND_RECV, n);
        choose_when_ready(FILCH_CASE_KIND_SEND, n);
    }
    free_chans();
}

/* Closing completes a select that waits for both directions by either case. */
static void close_is_fair(void)
{
    long chosen[2] = {0, 0}, item = 0;

    for (int i = 0; i < 200; i++) {
        filch_case both[2] = {{FILCH_CASE_KIND_RECV, NULL, &item, 0},
                              {FILCH_CASE_KIND_SEND, NULL, &item, 0}};
        caller a = {.call = do_select, .cases = both, .n = 2};
        both[0].chan = both[1].chan = chan_of_longs(0);
        caller_start(&a);
        await_senders(both[0].chan, 1);
        CHECK_INT(filch_chan_close(both[0].chan), 0);
        check_no_waiters(both[0].chan);
        filch_chan_free(both[0].chan);
        chosen[caller_join(&a)]++;
    }
    printf("closed: %ld %ld\n", chosen[0], chosen[1]);
    CHECK(chosen[0] >= 10 && chosen[1] >= 10);
}

/* ---- limits ---- */

static void no_channels(void)
{
    filch_case none[2] = {FILCH_CASE_RECV(NULL, NULL), FILCH_CASE_SEND(NULL, NULL)};

    for (size_t n = 0; n < 3; n++) {
        caller a = {.call = do_select, .cases = none, .n = n};
        CHECK_INT(filch_try_select(none, n), -EAGAIN);
        CHECK_INT(filch_select_until(none, n, 0), -ETIMEDOUT);
        CHECK_INT(filch_select_until(none, n, filch_now() + FILCH_US(100)), -ETIMEDOUT);
        a.deadline = filch_now() + FILCH_US(100);
        caller_start(&a);
        CHECK_INT(caller_join(&a), -ETIMEDOUT);
        if (callers_are_threads)
            continue;
        a.deadline = 0;
        caller_start(&a);
        filch_fiber_cancel(a.fiber);
        CHECK_INT(caller_join(&a), -ECANCELED);
    }
}

/* All 64 cases, on 8 channels, on a small stack. */
static filch_case max_case[FILCH_SELECT_MAX + 1];
static long max_item;

static void *select_max(void *arg)
{
    (void)arg;
    return (void *)(intptr_t)filch_select(max_case, FILCH_SELECT_MAX);
}

static void max_cases(void)
{
    filch_fiber *f;
    void *chosen;

    make_chans(0);
    max_item = -1;
    for (int i = 0; i <= FILCH_SELECT_MAX; i++)
        max_case[i] = (filch_case)FILCH_CASE_RECV(chans[(i * 5) % CHANS], &max_item);
    CHECK_INT(filch_select(max_case, FILCH_SELECT_MAX + 1), -EINVAL);
    f = filch_fiber_start_attr(&(filch_fiber_attr){.stack_size = 16 << 10}, select_max, NULL);
    CHECK(f != NULL);
    for (int i = 0; i < CHANS; i++)
        await_receivers(chans[i], 1);
    send_one(chans[3], 33);
    CHECK_INT(filch_fiber_join(f, &chosen), 0);
    CHECK(max_case[(intptr_t)chosen].chan == chans[3]);
    CHECK_INT(max_item, 33);
    free_chans();
}

static void without_a_runtime(void **state)
{
    (void)state;
    callers_are_threads = true;
    ready_at_once();
    ready_because_partner_waits();
    waits_for_each();
    closed_while_waiting();
    send_and_receive_on_one();
    two_selects_meet();
    no_channels();
    CHECK_INT(filch_worker_count(), 0);
}

WITH_CALLERS(ready_at_once)
WITH_CALLERS(ready_because_partner_waits)
WITH_CALLERS(waits_for_each)
WITH_CALLERS(closed_while_waiting)
WITH_CALLERS(deadline_and_cancel)
WITH_CALLERS(send_and_receive_on_one)
WITH_CALLERS(two_selects_meet)
WITH_CALLERS(fair_on_one_channel)
WITH_CALLERS(close_is_fair)
WITH_CALLERS(no_channels)
WITH_CALLERS(max_cases)

CHECK_MAIN(without_a_runtime, choice_is_fair, test_ready_at_once, test_ready_because_partner_waits,
           test_waits_for_each, test_closed_while_waiting, test_deadline_and_cancel,
           test_send_and_receive_on_one, test_two_selects_meet, test_fair_on_one_channel,
           test_close_is_fair, test_no_channels, test_max_cases)
