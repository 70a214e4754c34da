#include "unit/sync/helpers.h"

static int lock(void *m)
{
    filch_mutex_lock(m);
    filch_mutex_unlock(m);
    return 0;
}

static int lock_until_cancelled(void *m)
{
    int e = filch_mutex_lock_until(m, NEVER);

    if (e == 0)
        filch_mutex_unlock(m);
    return e;
}

static int lock_soon(void *m)
{
    return filch_mutex_lock_until(m, SOON);
}

static int basics(void)
{
    filch_mutex m = {0};

    EXPECT(filch_mutex_try_lock(&m) == 0);
    EXPECT(filch_mutex_try_lock(&m) == -EAGAIN);
    filch_mutex_unlock(&m);
    filch_mutex_lock(&m);
    EXPECT(filch_mutex_try_lock(&m) == -EAGAIN);
    filch_mutex_unlock(&m);
    EXPECT(filch_mutex_lock_until(&m, 0) == 0);
    EXPECT(filch_mutex_lock_until(&m, 0) == -ETIMEDOUT);
    filch_mutex_unlock(&m);
    EXPECT(filch_mutex_lock_until(&m, NEVER) == 0);
    filch_mutex_unlock(&m);
    return 0;
}
EVERYWHERE(basics)

/* Lock often enough that the lock is biased, then let others revoke the bias. */
static int biased_then_contended(void)
{
    filch_mutex m = {0};
    async_call p[2];

    for (int i = 0; i < 1000; i++)
        lock(&m);
    filch_mutex_lock(&m);
    async_call_start(&p[0], lock, &m);
    async_call_start_thread(&p[1], lock, &m);
    await_waiting(&m, 2);
    EXPECT(!atomic_load(&p[0].is_over) && !atomic_load(&p[1].is_over));
    filch_mutex_unlock(&m);
    async_call_join(&p[0]);
    async_call_join(&p[1]);
    EXPECT(filch_mutex_try_lock(&m) == 0);
    return 0;
}
EVERYWHERE(biased_then_contended)

static int deadline_passes(void)
{
    filch_mutex m = {0};
    async_call p[2];

    filch_mutex_lock(&m);
    async_call_start(&p[0], lock_soon, &m);
    async_call_start_thread(&p[1], lock_soon, &m);
    EXPECT(async_call_join(&p[0]) == -ETIMEDOUT);
    EXPECT(async_call_join(&p[1]) == -ETIMEDOUT);
    EXPECT(n_waiting(&m) == 0);
    filch_mutex_unlock(&m);
    return basics();
}
EVERYWHERE(deadline_passes)

static int cancelled(void)
{
    filch_mutex m = {0};
    async_call p, q;

    filch_mutex_lock(&m);
    async_call_start(&p, lock_until_cancelled, &m);
    await_waiting(&m, 1);
    filch_fiber_cancel(p.fiber);
    EXPECT(async_call_join(&p) == -ECANCELED);
    EXPECT(n_waiting(&m) == 0);

    async_call_start(&q, lock, &m);
    await_waiting(&m, 1);
    filch_fiber_cancel(q.fiber);
    EXPECT(n_waiting(&m) == 1); /* it still waits */
    filch_mutex_unlock(&m);
    EXPECT(async_call_join(&q) == 0);
    return 0;
}
EVERYWHERE(cancelled)

/* A waiter is woken, finds the mutex locked again, and gives up.  The next waiter must be woken
 * later. */
static int gives_up_when_woken(void)
{
    filch_mutex m = {0};
    async_call p, q;

    filch_mutex_lock(&m);
    async_call_start(&p, lock_until_cancelled, &m);
    await_waiting(&m, 1);
    async_call_start(&q, lock, &m);
    await_waiting(&m, 2);
    filch_mutex_unlock(&m);
    EXPECT(n_waiting(&m) == 1);
    filch_mutex_lock(&m);
    filch_fiber_cancel(p.fiber);
    EXPECT(async_call_join(&p) == -ECANCELED);
    filch_mutex_unlock(&m);
    EXPECT(async_call_join(&q) == 0);
    EXPECT(filch_mutex_try_lock(&m) == 0);
    return 0;
}
ON_ONE_WORKER(gives_up_when_woken)

/* A waiter that is woken and finds the mutex locked goes to the front of the queue. */
static int *next_in_order;
typedef struct in_order {
    filch_mutex *m;
    int place;
} in_order;

static int lock_in_order(void *arg)
{
    in_order *o = arg;

    filch_mutex_lock(o->m);
    o->place = (*next_in_order)++;
    filch_mutex_unlock(o->m);
    return 0;
}

static int retry_keeps_order(void)
{
    enum { N = 5 };
    filch_mutex m = {0};
    in_order o[N];
    async_call p[N];
    int next = 0;

    next_in_order = &next;
    filch_mutex_lock(&m);
    for (unsigned i = 0; i < N; i++) {
        o[i] = (in_order){&m, -1};
        async_call_start(&p[i], lock_in_order, &o[i]);
        await_waiting(&m, i + 1);
    }
    for (int i = 0; i < 3; i++) {
        filch_mutex_unlock(&m);
        EXPECT(filch_mutex_try_lock(&m) == 0); /* barges before the woken waiter */
        await_waiting(&m, N);
    }
    filch_mutex_unlock(&m);
    for (int i = 0; i < N; i++) {
        async_call_join(&p[i]);
        EXPECT(o[i].place == i);
    }
    return 0;
}
ON_ONE_WORKER(retry_keeps_order)

/* ---- barging is bounded ---- */

enum { WAITERS = 4, BARGERS = 3, TURNS_EACH = 257, TURNS_MAX = (WAITERS + 1) * TURNS_EACH };

typedef struct barging {
    filch_mutex m;
    int turns; /* under the mutex */
    int turn_of[WAITERS], taken;
    bool yields;
} barging;

static int barge(void *arg)
{
    barging *h = arg;
    bool more = true;

    while (more) {
        filch_mutex_lock(&h->m);
        if (h->yields)
            filch_yield();
        more = ++h->turns <= TURNS_MAX && h->taken < WAITERS;
        filch_mutex_unlock(&h->m);
    }
    return 0;
}

static int take_turn(void *arg)
{
    barging *h = arg;

    filch_mutex_lock(&h->m);
    h->turn_of[h->taken++] = ++h->turns;
    filch_mutex_unlock(&h->m);
    return 0;
}

/* The k-th waiter gets the mutex after at most k * TURNS_EACH critical sections. */
static int barging_is_bounded(bool yields)
{
    barging h = {.yields = yields};
    async_call bargers[BARGERS], waiters[WAITERS];

    filch_mutex_lock(&h.m);
    for (unsigned i = 0; i < WAITERS; i++) {
        if (i == 1)
            async_call_start_thread(&waiters[i], take_turn, &h);
        else
            async_call_start(&waiters[i], take_turn, &h);
        await_waiting(&h.m, i + 1);
    }
    for (int i = 0; i < BARGERS; i++)
        async_call_start(&bargers[i], barge, &h);
    filch_mutex_unlock(&h.m);
    barge(&h);
    for (int i = 0; i < BARGERS; i++)
        async_call_join(&bargers[i]);
    for (int i = 0; i < WAITERS; i++)
        async_call_join(&waiters[i]);
    for (int i = 0; i < WAITERS; i++)
        EXPECT(h.turn_of[i] <= (i + 1) * TURNS_EACH);
    return 0;
}

static int bounded_with_yield(void)
{
    return barging_is_bounded(true);
}
EVERYWHERE(bounded_with_yield)

static int bounded_without_yield(void)
{
    return barging_is_bounded(false);
}
EVERYWHERE(bounded_without_yield)

/* The last user frees the mutex. */
static int take_and_free(void *m)
{
    filch_mutex_lock(m);
    filch_mutex_unlock(m);
    free(m);
    return 0;
}

static int freed_by_last_user(void)
{
    for (int i = 0; i < SCALED(500); i++) {
        filch_mutex *m = calloc(1, sizeof *m);
        async_call p;
        if (!m)
            return __LINE__;
        filch_mutex_lock(m);
        if (i % 4 == 0)
            async_call_start_thread(&p, take_and_free, m);
        else
            async_call_start(&p, take_and_free, m);
        if (i % 2 == 0)
            await_waiting(m, 1);
        filch_mutex_unlock(m);
        async_call_join(&p);
    }
    return 0;
}
EVERYWHERE(freed_by_last_user)

/* Without a runtime. */
static void test_threads_alone(void **state)
{
    filch_mutex m = {0};
    async_call p[4];

    (void)state;
    filch_mutex_lock(&m);
    for (unsigned i = 0; i < 4; i++)
        async_call_start_thread(&p[i], i == 2 ? lock_soon : lock, &m);
    CHECK_INT(async_call_join(&p[2]), -ETIMEDOUT);
    await_waiting(&m, 3);
    filch_mutex_unlock(&m);
    for (int i = 0; i < 4; i++)
        if (i != 2)
            CHECK_INT(async_call_join(&p[i]), 0);
    CHECK_INT(filch_worker_count(), 0);
}

CHECK_MAIN(test_threads_alone, test_basics, test_biased_then_contended, test_deadline_passes,
           test_cancelled, test_gives_up_when_woken, test_retry_keeps_order,
           test_bounded_with_yield, test_bounded_without_yield, test_freed_by_last_user)
