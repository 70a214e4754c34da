#include "unit/sync/helpers.h"

typedef struct meeting {
    filch_mutex m;
    filch_cond c;
    int arrived, gone; /* under the mutex */
} meeting;

typedef struct visit {
    meeting *at;
    int64_t deadline;
    int came, went;
    bool held; /* the mutex was held after the wait */
} visit;

static int visit_it(void *arg)
{
    visit *v = arg;
    meeting *at = v->at;
    int e;

    filch_mutex_lock(&at->m);
    v->came = at->arrived++;
    e = filch_cond_wait_until(&at->c, &at->m, v->deadline);
    v->held = filch_mutex_try_lock(&at->m) == -EAGAIN;
    v->went = at->gone++;
    filch_mutex_unlock(&at->m);
    return e;
}

static int signal_without_waiter(void)
{
    meeting at = {0};
    party p;
    visit v = {&at, SOON, 0, 0, false};

    filch_cond_signal(&at.c);
    filch_cond_broadcast(&at.c);
    party_start(&p, visit_it, &v);
    SAY(party_end(&p) == -ETIMEDOUT); /* signals without a waiter are not stored */
    return 0;
}
EVERYWHERE(signal_without_waiter)

/* Fibers and threads alternate. */
static void visit_all(meeting *at, party *p, visit *v, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        v[i] = (visit){at, NEVER, 0, 0, false};
        if (i % 2)
            party_start_thread(&p[i], visit_it, &v[i]);
        else
            party_start(&p[i], visit_it, &v[i]);
        await_waiting(&at->c, i + 1);
    }
}

static int signals(void)
{
    enum { N = 6 };
    meeting at = {0};
    party p[N];
    visit v[N];

    visit_all(&at, p, v, N);
    while (filch_mutex_try_lock(&at.m) != 0)
        filch_yield(); /* the last waiter is about to unlock it */
    filch_mutex_unlock(&at.m);
    for (unsigned i = 0; i < N; i++) {
        filch_cond_signal(&at.c);
        SAY(party_end(&p[i]) == 0); /* the longest waiter is woken */
        SAY(v[i].held && v[i].went == (int)i);
        SAY(n_waiting(&at.c) == N - 1 - i);
    }
    return 0;
}
EVERYWHERE(signals)

static int broadcasts(void)
{
    enum { N = 6 };
    meeting at = {0};
    party p[N];
    visit v[N];

    visit_all(&at, p, v, N);
    filch_mutex_lock(&at.m);
    filch_cond_broadcast(&at.c);
    SAY(n_waiting(&at.c) == 0);
    SAY(at.gone == 0);
    filch_mutex_unlock(&at.m);
    for (unsigned i = 0; i < N; i++) {
        SAY(party_end(&p[i]) == 0);
        SAY(v[i].held);
    }
    return 0;
}
EVERYWHERE(broadcasts)

static int deadline_passes(void)
{
    meeting at = {0};
    party p[3];
    visit v[3];

    for (int i = 0; i < 3; i++) {
        v[i] = (visit){&at, i == 2 ? 0 : SOON, 0, 0, false};
        if (i % 2)
            party_start_thread(&p[i], visit_it, &v[i]);
        else
            party_start(&p[i], visit_it, &v[i]);
    }
    for (int i = 0; i < 3; i++) {
        SAY(party_end(&p[i]) == -ETIMEDOUT);
        SAY(v[i].held);
    }
    SAY(n_waiting(&at.c) == 0);
    return 0;
}
EVERYWHERE(deadline_passes)

/* One waiter is cancelled.  The signal wakes the other. */
static int cancelled(void)
{
    meeting at = {0};
    party p[2];
    visit v[2];

    for (unsigned i = 0; i < 2; i++) {
        v[i] = (visit){&at, NEVER, 0, 0, false};
        party_start(&p[i], visit_it, &v[i]);
        await_waiting(&at.c, i + 1);
    }
    filch_fiber_cancel(p[0].fiber);
    SAY(party_end(&p[0]) == -ECANCELED);
    SAY(v[0].held);
    filch_cond_signal(&at.c);
    SAY(party_end(&p[1]) == 0);
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
    party p;

    party_start(&p, wait_ignoring_cancel, &s);
    await_waiting(&s.c, 1);
    filch_fiber_cancel(p.fiber);
    for (int i = 0; i < 10; i++)
        filch_yield();
    filch_mutex_lock(&s.m);
    s.so = true;
    filch_mutex_unlock(&s.m);
    return party_end(&p);
}
ON_ONE_WORKER(cancelled_waiter_retries)

CHECK_MAIN(test_signal_without_waiter, test_signals, test_broadcasts, test_deadline_passes,
           test_cancelled, test_cancelled_waiter_retries)
