#include "unit/sync/helpers.h"

static int come_as_second(void *b)
{
    return filch_barrier_wait(b, 2);
}

static int come_as_third(void *b)
{
    return filch_barrier_wait(b, 3);
}

static int come_soon(void *b)
{
    return filch_barrier_wait_until(b, 2, SOON);
}

static int basics(void)
{
    filch_barrier b = {0};

    for (int i = 0; i < 3; i++)
        SAY(filch_barrier_wait(&b, 1) == 1);
    SAY(filch_barrier_wait_until(&b, 1, 0) == 1);
    for (int i = 0; i < 3; i++)
        SAY(filch_barrier_wait_until(&b, 2, 0) == -ETIMEDOUT);
    return 0;
}
EVERYWHERE(basics)

/* Threads and fibers; then it is as new, also for another number. */
static int as_new(void)
{
    filch_barrier b = {0};
    party p[2];

    for (int round = 0; round < 3; round++) {
        party_start(&p[0], come_as_third, &b);
        party_start_thread(&p[1], come_as_third, &b);
        await_waiting(&b, 2);
        SAY(filch_barrier_wait(&b, 3) == 1);
        SAY(party_end(&p[0]) == 0 && party_end(&p[1]) == 0);

        party_start(&p[0], come_as_second, &b);
        await_waiting(&b, 1);
        SAY(filch_barrier_wait(&b, 2) == 1);
        SAY(party_end(&p[0]) == 0);
    }
    return 0;
}
EVERYWHERE(as_new)

static int late_and_cancelled(void)
{
    filch_barrier b = {0};
    party p[4];

    party_start(&p[0], come_soon, &b);
    SAY(party_end(&p[0]) == -ETIMEDOUT);
    party_start_thread(&p[1], come_soon, &b);
    SAY(party_end(&p[1]) == -ETIMEDOUT);
    party_start(&p[2], come_as_second, &b);
    await_waiting(&b, 1);
    filch_fiber_cancel(p[2].fiber);
    SAY(party_end(&p[2]) == -ECANCELED);

    party_start(&p[3], come_as_second, &b);
    await_waiting(&b, 1); /* the others have not come */
    SAY(filch_barrier_wait(&b, 2) == 1);
    SAY(party_end(&p[3]) == 0);
    return 0;
}
EVERYWHERE(late_and_cancelled)

/* It has not come as soon as it is cancelled, not only when it runs again. */
static int cancelled_but_not_running(void)
{
    filch_barrier b = {0};
    party p;

    party_start(&p, come_as_second, &b);
    await_waiting(&b, 1);
    filch_fiber_cancel(p.fiber);
    SAY(!atomic_load(&p.is_over));
    SAY(filch_barrier_wait_until(&b, 2, 0) == -ETIMEDOUT);
    SAY(party_end(&p) == -ECANCELED);
    return 0;
}
ON_ONE_WORKER(cancelled_but_not_running)

CHECK_MAIN(test_basics, test_as_new, test_late_and_cancelled, test_cancelled_but_not_running)
