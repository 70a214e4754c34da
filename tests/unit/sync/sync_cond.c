#include "unit/sync/helpers.h"

typedef struct test_cond {
    filch_mutex m;
    filch_cond c;
    int arrived, gone; /* under the mutex */
} test_cond;

typedef struct test_wait {
    test_cond *at;
    int64_t deadline;
    int arrival, departure;
    bool held; /* the mutex was held after the wait */
} test_wait;

static int wait_once(void *arg)
{
    test_wait *v = arg;
    test_cond *at = v->at;
    int e;

    filch_mutex_lock(&at->m);
    v->arrival = at->arrived++;
    e = filch_cond_wait_until(&at->c, &at->m, v->deadline);
    v->held = filch_mutex_try_lock(&at->m) == -EAGAIN;
    v->departure = at->gone++;
    filch_mutex_unlock(&at->m);
    return e;
}

static int signal_without_waiter(void)
{
    test_cond at = {0};
    async_call p;
    test_wait v = {&at, SOON, 0, 0, false};

    filch_cond_signal(&at.c);
    filch_cond_broadcast(&at.c);
    async_call_start(&p, wait_once, &v);
    EXPECT(async_call_join(&p) == -ETIMEDOUT); /* signals without a waiter are not stored */
    return 0;
}
EVERYWHERE(signal_without_waiter)

/* Fibers and threads alternate. */
static void wait_all(test_cond *at, async_call *p, test_wait *v, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        v[i] = (test_wait){at, NEVER, 0, 0, false};
        if (i % 2)
            async_call_start_thread(&p[i], wait_once, &v[i]);
        else
            async_call_start(&p[i], wait_once, &v[i]);
        await_waiting(&at->c, i + 1);
    }
}

static int signals(void)
{
    enum { N = 6 };
    test_cond at = {0};
    async_call p[N];
    test_wait v[N];

    wait_all(&at, p, v, N);
    while (filch_mutex_try_lock(&at.m) != 0)
        filch_yield(); /* the last waiter is about to unlock it */
    filch_mutex_unlock(&at.m);
    for (unsigned i = 0; i < N; i++) {
        filch_cond_signal(&at.c);
        EXPECT(async_call_join(&p[i]) == 0); /* the longest waiter is woken */
        EXPECT(v[i].held && v[i].departure == (int)i);
        EXPECT(n_waiting(&at.c) == N - 1 - i);
    }
    return 0;
}
EVERYWHERE(signals)

static int broadcasts(void)
{
    enum { N = 6 };
    test_cond at = {0};
    async_call p[N];
    test_wait v[N];

    wait_all(&at, p, v, N);
    filch_mutex_lock(&at.m);
    filch_cond_broadcast(&at.c);
    EXPECT(n_waiting(&at.c) == 0);
    EXPECT(at.gone == 0);
    filch_mutex_unlock(&at.m);
    for (unsigned i = 0; i < N; i++) {
        EXPECT(async_call_join(&p[i]) == 0);
        EXPECT(v[i].held);
    }
    return 0;
}
EVERYWHERE(broadcasts)

static int deadline_passes(void)
{
    test_cond at = {0};
    async_call p[3];
    test_wait v[3];

    for (int i = 0; i < 3; i++) {
        v[i] = (test_wait){&at, i == 2 ? 0 : SOON, 0, 0, false};
        if (i % 2)
            async_call_start_thread(&p[i], wait_once, &v[i]);
        else
            async_call_start(&p[i], wait_once, &v[i]);
    }
    for (int i = 0; i < 3; i++) {
        EXPECT(async_call_join(&p[i]) == -ETIMEDOUT);
        EXPECT(v[i].held);
    }
    EXPECT(n_waiting(&at.c) == 0);
    return 0;
}
EVERYWHERE(deadline_passes)

/* One waiter is cancelled.  The signal wakes the other. */
static int cancelled(void)
{
    test_cond at = {0};
    async_call p[2];
    test_wait v[2];

    for (unsigned i = 0; i < 2; i++) {
        v[i] = (test_wait){&at, NEVER, 0, 0, false};
        async_call_start(&p[i], wait_once, &v[i]);
        await_waiting(&at.c, i + 1);
    }
    filch_fiber_cancel(p[0].fiber);
    EXPECT(async_call_join(&p[0]) == -ECANCELED);
    EXPECT(v[0].held);
    filch_cond_signal(&at.c);
    EXPECT(async_call_join(&p[1]) == 0);
    return 0;
}
EVERYWHERE(cancelled)

/* A waiter that ignores its cancellation waits again and again.  Other fibers still run and can
 * change the predicate. */
typedef struct predicate {
    filch_mutex m;
    filch_cond c;
    bool so;
} predicate;

static int wait_ignoring_cancel(void *arg)
{
    predicate *s = arg;

    filch_mutex_lock(&s->m);
    while (!s->so)
        filch_cond_wait(&s->c, &s->m);
    filch_mutex_unlock(&s->m);
    return 0;
}

static int cancelled_waiter_retries(void)
{
    predicate s = {0};
    async_call p;

    async_call_start(&p, wait_ignoring_cancel, &s);
    await_waiting(&s.c, 1);
    filch_fiber_cancel(p.fiber);
    for (int i = 0; i < 10; i++)
        filch_yield();
    filch_mutex_lock(&s.m);
    s.so = true;
    filch_mutex_unlock(&s.m);
    return async_call_join(&p);
}
ON_ONE_WORKER(cancelled_waiter_retries)

CHECK_MAIN(test_signal_without_waiter, test_signals, test_broadcasts, test_deadline_passes,
           test_cancelled, test_cancelled_waiter_retries)
