#include "unit/sync/helpers.h"

static int arrive_of_two(void *b)
{
    return filch_barrier_wait(b, 2);
}

static int arrive_of_three(void *b)
{
    return filch_barrier_wait(b, 3);
}

static int arrive_with_deadline(void *b)
{
    return filch_barrier_wait_until(b, 2, SOON);
}

static int basics(void)
{
    filch_barrier b = {0};

    for (int i = 0; i < 3; i++)
        EXPECT(filch_barrier_wait(&b, 1) == 1);
    EXPECT(filch_barrier_wait_until(&b, 1, 0) == 1);
    for (int i = 0; i < 3; i++)
        EXPECT(filch_barrier_wait_until(&b, 2, 0) == -ETIMEDOUT);
    return 0;
}
EVERYWHERE(basics)

/* After it has opened, the barrier can be used again, also with another n. */
static int is_reusable(void)
{
    filch_barrier b = {0};
    async_call p[2];

    for (int round = 0; round < 3; round++) {
        async_call_start(&p[0], arrive_of_three, &b);
        async_call_start_thread(&p[1], arrive_of_three, &b);
        await_waiting(&b, 2);
        EXPECT(filch_barrier_wait(&b, 3) == 1);
        EXPECT(async_call_join(&p[0]) == 0 && async_call_join(&p[1]) == 0);

        async_call_start(&p[0], arrive_of_two, &b);
        await_waiting(&b, 1);
        EXPECT(filch_barrier_wait(&b, 2) == 1);
        EXPECT(async_call_join(&p[0]) == 0);
    }
    return 0;
}
EVERYWHERE(is_reusable)

static int deadline_and_cancel(void)
{
    filch_barrier b = {0};
    async_call p[4];

    async_call_start(&p[0], arrive_with_deadline, &b);
    EXPECT(async_call_join(&p[0]) == -ETIMEDOUT);
    async_call_start_thread(&p[1], arrive_with_deadline, &b);
    EXPECT(async_call_join(&p[1]) == -ETIMEDOUT);
    async_call_start(&p[2], arrive_of_two, &b);
    await_waiting(&b, 1);
    filch_fiber_cancel(p[2].fiber);
    EXPECT(async_call_join(&p[2]) == -ECANCELED);

    async_call_start(&p[3], arrive_of_two, &b);
    await_waiting(&b, 1); /* those that gave up are not counted */
    EXPECT(filch_barrier_wait(&b, 2) == 1);
    EXPECT(async_call_join(&p[3]) == 0);
    return 0;
}
EVERYWHERE(deadline_and_cancel)

/* A cancelled waiter stops counting at once, not only when it runs again. */
static int cancelled_but_not_running(void)
{
    filch_barrier b = {0};
    async_call p;

    async_call_start(&p, arrive_of_two, &b);
    await_waiting(&b, 1);
    filch_fiber_cancel(p.fiber);
    EXPECT(!atomic_load(&p.is_over));
    EXPECT(filch_barrier_wait_until(&b, 2, 0) == -ETIMEDOUT);
    EXPECT(async_call_join(&p) == -ECANCELED);
    return 0;
}
ON_ONE_WORKER(cancelled_but_not_running)

CHECK_MAIN(test_basics, test_is_reusable, test_deadline_and_cancel, test_cancelled_but_not_running)
