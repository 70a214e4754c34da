#include "unit/sync/helpers.h"

static int await(void *g)
{
    return filch_wait_group_wait(g);
}

static int await_soon(void *g)
{
    return filch_wait_group_wait_until(g, SOON);
}

static int basics(void)
{
    filch_wait_group g = {0};

    for (int round = 0; round < 3; round++) {
        EXPECT(filch_wait_group_wait(&g) == 0);
        filch_wait_group_add(&g, 2);
        filch_wait_group_add(&g, 0);
        EXPECT(filch_wait_group_wait_until(&g, 0) == -ETIMEDOUT);
        filch_wait_group_done(&g);
        EXPECT(filch_wait_group_wait_until(&g, 0) == -ETIMEDOUT);
        filch_wait_group_done(&g);
        EXPECT(filch_wait_group_wait_until(&g, 0) == 0);
    }
    return 0;
}
EVERYWHERE(basics)

static int all_are_woken(void)
{
    enum { N = 6 };
    filch_wait_group g = {0};
    async_call p[N];

    filch_wait_group_add(&g, 2);
    for (int i = 0; i < N; i++) {
        if (i % 2)
            async_call_start_thread(&p[i], await, &g);
        else
            async_call_start(&p[i], await, &g);
    }
    await_waiting(&g, N);
    filch_wait_group_done(&g);
    EXPECT(n_waiting(&g) == N);
    filch_wait_group_done(&g);
    EXPECT(n_waiting(&g) == 0);
    for (int i = 0; i < N; i++)
        EXPECT(async_call_join(&p[i]) == 0);
    return 0;
}
EVERYWHERE(all_are_woken)

static int deadline_and_cancel(void)
{
    filch_wait_group g = {0};
    async_call p[3];

    filch_wait_group_add(&g, 1);
    async_call_start(&p[0], await_soon, &g);
    async_call_start_thread(&p[1], await_soon, &g);
    EXPECT(async_call_join(&p[0]) == -ETIMEDOUT);
    EXPECT(async_call_join(&p[1]) == -ETIMEDOUT);
    async_call_start(&p[2], await, &g);
    await_waiting(&g, 1);
    filch_fiber_cancel(p[2].fiber);
    EXPECT(async_call_join(&p[2]) == -ECANCELED);
    EXPECT(n_waiting(&g) == 0);
    filch_wait_group_done(&g);
    return 0;
}
EVERYWHERE(deadline_and_cancel)

static int count_down(void *g)
{
    filch_wait_group_done(g);
    return 0;
}

static void count_down_alone(void *g)
{
    filch_wait_group_done(g);
}

/* The waiter frees the group as soon as the wait returns. */
static int freed_by_waiter(void)
{
    for (int i = 0; i < SCALED(5000); i++) {
        filch_wait_group *g = calloc(1, sizeof *g);
        async_call p = {0};
        if (!g)
            return __LINE__;
        filch_wait_group_add(g, 3);
        EXPECT(filch_go(count_down_alone, g) == 0);
        EXPECT(filch_go(count_down_alone, g) == 0);
        if (i % 8 == 0)
            async_call_start_thread(&p, count_down, g);
        else
            EXPECT(filch_go(count_down_alone, g) == 0);
        if (i % 3 == 0)
            EXPECT(filch_wait_group_wait_until(g, filch_now() + INT64_C(3600000000000)) == 0);
        else
            EXPECT(filch_wait_group_wait(g) == 0);
        memset(g, 0xff, sizeof *g);
        free(g);
        if (i % 8 == 0)
            async_call_join(&p);
    }
    return 0;
}
EVERYWHERE(freed_by_waiter)

CHECK_MAIN(test_basics, test_all_are_woken, test_deadline_and_cancel, test_freed_by_waiter)
