#include "unit/sync/helpers.h"

typedef struct place {
    filch_mutex m;
    filch_cond c;
    int arrived, gone; /* under the mutex */
} place;

typedef struct visit {
    place *at;
    int64_t deadline;
    int came, went;
    bool held; /* the mutex, afterwards */
} visit;

static int visit_it(void *arg)
{
    visit *v = arg;
    place *at = v->at;
    int e;

    filch_mutex_lock(&at->m);
    v->came = at->arrived++;
    e = filch_cond_wait_until(&at->c, &at->m, v->deadline);
    v->held = filch_mutex_try_lock(&at->m) == -EAGAIN;
    v->went = at->gone++;
    filch_mutex_unlock(&at->m);
    return e;
}

static int nobody_waits(void)
{
    place at = {0};
    party p;
    visit v = {&at, SOON, 0, 0, false};

    filch_cond_signal(&at.c);
    filch_cond_broadcast(&at.c);
    party_start(&p, visit_it, &v);
    SAY(party_end(&p) == -ETIMEDOUT); /* what nobody waited for is not remembered */
    return 0;
}
EVERYWHERE(nobody_waits)

/* Threads and fibers in turn. */
static void visit_all(place *at, party *p, visit *v, unsigned n)
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
    place at = {0};
    party p[N];
    visit v[N];

    visit_all(&at, p, v, N);
    while (filch_mutex_try_lock(&at.m) != 0)
        filch_yield(); /* who stands in line lets it go next */
    filch_mutex_unlock(&at.m);
    for (unsigned i = 0; i < N; i++) {
        filch_cond_signal(&at.c);
        SAY(party_end(&p[i]) == 0); /* who has waited longest */
        SAY(v[i].held && v[i].went == (int)i);
        SAY(n_waiting(&at.c) == N - 1 - i);
    }
    return 0;
}
EVERYWHERE(signals)

static int broadcasts(void)
{
    enum { N = 6 };
    place at = {0};
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

static int late(void)
{
    place at = {0};
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
EVERYWHERE(late)

/* One is cancelled; the signal is the other's. */
static int cancelled(void)
{
    place at = {0};
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

/* Who does not care that it was cancelled asks again and again, and yet others come to change what it waits for. */
typedef struct stubborn {
    filch_mutex m;
    filch_cond c;
    bool so;
} stubborn;

static int insist(void *arg)
{
    stubborn *s = arg;

    filch_mutex_lock(&s->m);
    while (!s->so)
        filch_cond_wait(&s->c, &s->m);
    filch_mutex_unlock(&s->m);
    return 0;
}

static int cancelled_and_stubborn(void)
{
    stubborn s = {0};
    party p;

    party_start(&p, insist, &s);
    await_waiting(&s.c, 1);
    filch_fiber_cancel(p.fiber);
    for (int i = 0; i < 10; i++)
        filch_yield();
    filch_mutex_lock(&s.m);
    s.so = true;
    filch_mutex_unlock(&s.m);
    return party_end(&p);
}
ON_ONE_WORKER(cancelled_and_stubborn)

CHECK_MAIN(test_nobody_waits, test_signals, test_broadcasts, test_late, test_cancelled,
           test_cancelled_and_stubborn)
