#include "unit/sync/helpers.h"

typedef struct request {
    filch_sem *s;
    uint64_t n;
    int64_t deadline;
} request;

static int take(void *arg)
{
    request *w = arg;

    if (w->deadline != NEVER)
        return filch_sem_wait_n_until(w->s, w->n, w->deadline);
    return w->n == 1 ? filch_sem_wait(w->s) : filch_sem_wait_n(w->s, w->n);
}

static int take_soon(void *s)
{
    return filch_sem_wait_until(s, SOON);
}

static int basics(void)
{
    filch_sem s = {0}, three = FILCH_SEM_INIT(3);

    EXPECT(filch_sem_value(&s) == 0);
    EXPECT(filch_sem_try_wait(&s) == -EAGAIN);
    EXPECT(filch_sem_wait_until(&s, 0) == -ETIMEDOUT);
    filch_sem_post(&s);
    EXPECT(filch_sem_value(&s) == 1);
    EXPECT(filch_sem_wait(&s) == 0);
    EXPECT(filch_sem_value(&s) == 0);
    filch_sem_post_n(&s, 5);
    EXPECT(filch_sem_wait_n(&s, 4) == 0);
    EXPECT(filch_sem_wait_n_until(&s, 2, 0) == -ETIMEDOUT);
    EXPECT(filch_sem_wait_until(&s, 0) == 0);
    EXPECT(filch_sem_wait_n(&s, 0) == 0);
    EXPECT(filch_sem_value(&three) == 3);
    EXPECT(filch_sem_try_wait(&three) == 0);
    EXPECT(filch_sem_value(&three) == 2);
    return 0;
}
EVERYWHERE(basics)

/* A waiter that wants many is not overtaken by one that wants few. */
static int fifo_order(void)
{
    filch_sem s = {0};
    request many = {&s, 3, NEVER}, one = {&s, 1, NEVER};
    async_call p, q;

    async_call_start(&p, take, &many);
    await_waiting(&s, 1);
    async_call_start_thread(&q, take, &one);
    await_waiting(&s, 2);
    filch_sem_post_n(&s, 2);
    EXPECT(n_waiting(&s) == 2);
    EXPECT(filch_sem_value(&s) == 2);
    EXPECT(filch_sem_try_wait(&s) == -EAGAIN);
    EXPECT(filch_sem_wait_until(&s, 0) == -ETIMEDOUT);
    filch_sem_post(&s);
    EXPECT(async_call_join(&p) == 0);
    EXPECT(n_waiting(&s) == 1);
    EXPECT(filch_sem_value(&s) == 0);
    filch_sem_post(&s);
    EXPECT(async_call_join(&q) == 0);
    EXPECT(filch_sem_value(&s) == 0);
    return 0;
}
EVERYWHERE(fifo_order)

static int many_at_once(void)
{
    enum { N = 6 };
    filch_sem s = {0};
    request w = {&s, 1, NEVER};
    async_call p[N];

    for (unsigned i = 0; i < N; i++) {
        if (i % 2)
            async_call_start_thread(&p[i], take, &w);
        else
            async_call_start(&p[i], take, &w);
    }
    await_waiting(&s, N);
    filch_sem_post_n(&s, N + 2);
    for (unsigned i = 0; i < N; i++)
        EXPECT(async_call_join(&p[i]) == 0);
    EXPECT(filch_sem_value(&s) == 2);
    return 0;
}
EVERYWHERE(many_at_once)

static int deadline_passes(void)
{
    filch_sem s = {0};
    async_call p[2];

    async_call_start(&p[0], take_soon, &s);
    async_call_start_thread(&p[1], take_soon, &s);
    EXPECT(async_call_join(&p[0]) == -ETIMEDOUT);
    EXPECT(async_call_join(&p[1]) == -ETIMEDOUT);
    EXPECT(n_waiting(&s) == 0);
    return 0;
}
EVERYWHERE(deadline_passes)

/* A waiter that wants more than the value gives up.  The waiters behind it are served. */
static int gives_up(bool by_deadline)
{
    filch_sem s = FILCH_SEM_INIT(2);
    request many = {&s, 3, by_deadline ? filch_now() + 50000000 : NEVER}, one = {&s, 1, NEVER};
    async_call p, q[3];

    async_call_start(&p, take, &many);
    if (!by_deadline)
        await_waiting(&s, 1);
    for (unsigned i = 0; i < 3; i++)
        async_call_start(&q[i], take, &one);
    if (!by_deadline) {
        await_waiting(&s, 4);
        filch_fiber_cancel(p.fiber);
    }
    EXPECT(async_call_join(&p) == (by_deadline ? -ETIMEDOUT : -ECANCELED));
    await_waiting(&s, 1);
    EXPECT(filch_sem_value(&s) == 0);
    filch_sem_post(&s);
    for (int i = 0; i < 3; i++)
        EXPECT(async_call_join(&q[i]) == 0);
    return 0;
}

static int gives_up_at_deadline(void)
{
    return gives_up(true);
}
EVERYWHERE(gives_up_at_deadline)

static int gives_up_when_cancelled(void)
{
    return gives_up(false);
}
EVERYWHERE(gives_up_when_cancelled)

CHECK_MAIN(test_basics, test_fifo_order, test_many_at_once, test_deadline_passes,
           test_gives_up_at_deadline, test_gives_up_when_cancelled)
