#include "unit/sync/helpers.h"

typedef struct resource {
    filch_once once;
    int made; /* by the first caller */
    int yields;
    filch_sem *hold;
} resource;

static void make(void *arg)
{
    resource *t = arg;

    for (int i = 0; i < t->yields; i++)
        filch_yield();
    if (t->hold)
        filch_sem_wait(t->hold);
    t->made++;
}

static int use(void *arg)
{
    resource *t = arg;

    filch_once_run(&t->once, make, t);
    return t->made;
}

static int basics(void)
{
    resource t = {0};

    for (int i = 0; i < 3; i++)
        EXPECT(use(&t) == 1);
    return 0;
}
EVERYWHERE(basics)

static int others_wait(void)
{
    enum { N = 6 };
    filch_sem hold = {0};
    resource t = {.hold = &hold};
    async_call p[N];

    for (int i = 0; i < N; i++) {
        if (i % 2)
            async_call_start_thread(&p[i], use, &t);
        else
            async_call_start(&p[i], use, &t);
    }
    await_waiting(&t.once, N - 1);
    await_waiting(&hold, 1);
    filch_sem_post(&hold);
    for (int i = 0; i < N; i++)
        EXPECT(async_call_join(&p[i]) == 1);
    return 0;
}
EVERYWHERE(others_wait)

/* A cancelled caller keeps waiting, because it needs the result. */
static int not_cancelled(void)
{
    filch_sem hold = {0};
    resource t = {.hold = &hold};
    async_call p, q;

    async_call_start(&p, use, &t);
    await_waiting(&hold, 1);
    async_call_start(&q, use, &t);
    await_waiting(&t.once, 1);
    filch_fiber_cancel(q.fiber);
    EXPECT(n_waiting(&t.once) == 1);
    filch_sem_post(&hold);
    EXPECT(async_call_join(&p) == 1);
    EXPECT(async_call_join(&q) == 1);
    return 0;
}
EVERYWHERE(not_cancelled)

/* Many callers come while the function runs. */
static int many_callers(void)
{
    enum { N = 16 };

    for (int round = 0; round < SCALED(300); round++) {
        resource t = {.yields = round % 3};
        async_call p[N];
        for (int i = 0; i < N; i++)
            async_call_start(&p[i], use, &t);
        for (int i = 0; i < N; i++)
            EXPECT(async_call_join(&p[i]) == 1);
    }
    return 0;
}
EVERYWHERE(many_callers)

static void nothing(void *arg)
{
    (void)arg;
}

/* The function may run another filch_once. */
static void make_by_another(void *arg)
{
    filch_once_run(arg, nothing, NULL);
}

static int nested(void)
{
    filch_once outer = {0}, inner = {0};

    filch_once_run(&outer, make_by_another, &inner);
    filch_once_run(&outer, make_by_another, &outer); /* is not run again */
    return 0;
}
EVERYWHERE(nested)

CHECK_MAIN(test_basics, test_others_wait, test_not_cancelled, test_many_callers, test_nested)
