#include "unit/sync/helpers.h"

static int wait_forever(void *e)
{
    return filch_event_wait(e);
}

static int wait_soon(void *e)
{
    return filch_event_wait_until(e, SOON);
}

static int basics(void)
{
    filch_event e = {0}, same = FILCH_EVENT_INIT;

    EXPECT(memcmp(&e, &same, sizeof e) == 0);
    EXPECT(!filch_event_is_set(&e));
    EXPECT(filch_event_try_wait(&e) == -EAGAIN);
    EXPECT(filch_event_wait_until(&e, 0) == -ETIMEDOUT);
    for (int i = 0; i < 3; i++) {
        filch_event_set(&e);
        filch_event_set(&e);
        EXPECT(filch_event_is_set(&e));
        EXPECT(filch_event_wait(&e) == 0);
        EXPECT(filch_event_wait_until(&e, 0) == 0);
        EXPECT(filch_event_try_wait(&e) == 0);
        EXPECT(filch_event_is_set(&e));
        filch_event_reset(&e);
        filch_event_reset(&e);
        EXPECT(!filch_event_is_set(&e));
        EXPECT(filch_event_try_wait(&e) == -EAGAIN);
        EXPECT(filch_event_wait_until(&e, 0) == -ETIMEDOUT);
    }
    return 0;
}
EVERYWHERE(basics)

/* Sets without a waiter do not add up, and each wait takes one. */
static int auto_reset(void)
{
    filch_event e = FILCH_EVENT_AUTO_INIT;

    EXPECT(filch_event_try_wait(&e) == -EAGAIN);
    for (int i = 0; i < 3; i++) {
        filch_event_set(&e);
        filch_event_set(&e);
        EXPECT(filch_event_is_set(&e));
        EXPECT((i == 0   ? filch_event_wait(&e)
                : i == 1 ? filch_event_wait_until(&e, 0)
                         : filch_event_try_wait(&e)) == 0);
        EXPECT(!filch_event_is_set(&e));
        EXPECT(filch_event_wait_until(&e, 0) == -ETIMEDOUT);
        EXPECT(filch_event_try_wait(&e) == -EAGAIN);
    }
    filch_event_set(&e);
    filch_event_reset(&e);
    EXPECT(filch_event_try_wait(&e) == -EAGAIN);
    return 0;
}
EVERYWHERE(auto_reset)

enum { N = 6 };

static void start_waiters(async_call *p, filch_event *e)
{
    for (unsigned i = 0; i < N; i++) {
        if (i % 2)
            async_call_start_thread(&p[i], wait_forever, e);
        else
            async_call_start(&p[i], wait_forever, e);
        await_waiting(e, i + 1);
    }
}

/* The waiters return although the event is reset at once. */
static int manual_set_wakes_all(void)
{
    filch_event e = FILCH_EVENT_INIT;
    async_call p[N];

    start_waiters(p, &e);
    filch_event_set(&e);
    filch_event_reset(&e);
    EXPECT(n_waiting(&e) == 0);
    for (unsigned i = 0; i < N; i++)
        EXPECT(async_call_join(&p[i]) == 0);
    EXPECT(!filch_event_is_set(&e));
    return 0;
}
EVERYWHERE(manual_set_wakes_all)

static int auto_set_wakes_the_longest(void)
{
    filch_event e = FILCH_EVENT_AUTO_INIT;
    async_call p[N];

    start_waiters(p, &e);
    for (unsigned i = 0; i < N; i++) {
        filch_event_set(&e);
        EXPECT(n_waiting(&e) == N - 1 - i);
        EXPECT(!filch_event_is_set(&e));
        EXPECT(async_call_join(&p[i]) == 0);
    }
    filch_event_set(&e);
    EXPECT(filch_event_is_set(&e));
    return 0;
}
EVERYWHERE(auto_set_wakes_the_longest)

static int deadline_passes(void)
{
    filch_event e[2] = {FILCH_EVENT_INIT, FILCH_EVENT_AUTO_INIT};
    async_call p[2];

    for (int i = 0; i < 2; i++) {
        async_call_start(&p[0], wait_soon, &e[i]);
        async_call_start_thread(&p[1], wait_soon, &e[i]);
        EXPECT(async_call_join(&p[0]) == -ETIMEDOUT);
        EXPECT(async_call_join(&p[1]) == -ETIMEDOUT);
        EXPECT(n_waiting(&e[i]) == 0);
    }
    return 0;
}
EVERYWHERE(deadline_passes)

/* A cancelled waiter does not take a set. */
static int cancelled(void)
{
    filch_event e = FILCH_EVENT_AUTO_INIT;
    async_call p, q;

    async_call_start(&p, wait_forever, &e);
    await_waiting(&e, 1);
    async_call_start(&q, wait_forever, &e);
    await_waiting(&e, 2);
    filch_fiber_cancel(p.fiber);
    EXPECT(async_call_join(&p) == -ECANCELED);
    EXPECT(n_waiting(&e) == 1);
    filch_event_set(&e);
    EXPECT(async_call_join(&q) == 0);
    EXPECT(!filch_event_is_set(&e));
    return 0;
}
EVERYWHERE(cancelled)

CHECK_MAIN(test_basics, test_auto_reset, test_manual_set_wakes_all, test_auto_set_wakes_the_longest,
           test_deadline_passes, test_cancelled)
