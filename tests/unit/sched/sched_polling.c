/* Which worker sleeps in the poller, which is woken and which is lent, with a futex word as the
 * poller. */
#include "check.h"

#include "base/futex.h"
#include "sched/idle.h"
#include "sched/poller.h"

#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#define SLEEPERS 3

/* A poller with pending events and interrupts that the test posts. */
typedef struct fake_poller {
    fi_poller poller; /* first */
    FI_ATOMIC(uint32_t) wake_seq;
    atomic_int events, interrupts, inside;
    atomic_bool was_awake; /* after an event */
} fake_poller;

typedef struct test_worker {
    fi_sleeper sleeper;
    pthread_t thread;
    atomic_bool awake;
} test_worker;

static fi_idle idle;
static fake_poller poller;
static test_worker all[SLEEPERS];

static void post(fake_poller *p)
{
    fi_fetch_add_relaxed(&p->wake_seq, 1u);
    fi_futex_wake(&p->wake_seq, INT_MAX);
}

static int poll_fake(fi_poller *base, int64_t deadline_ns, void (*awake)(void *arg), void *arg)
{
    fake_poller *p = (fake_poller *)(void *)base;
    uint32_t wake_seq = fi_load_relaxed(&p->wake_seq);

    CHECK_INT(deadline_ns, FI_FUTEX_FOREVER);
    CHECK_INT(atomic_fetch_add(&p->inside, 1), 0); /* one worker at a time */
    while (atomic_load(&p->events) == 0 && atomic_load(&p->interrupts) == 0) {
        fi_futex_wait(&p->wake_seq, wake_seq, FI_FUTEX_FOREVER);
        wake_seq = fi_load_relaxed(&p->wake_seq);
    }
    atomic_fetch_sub(&p->inside, 1);
    if (atomic_exchange(&p->events, 0) == 0) {
        atomic_fetch_sub(&p->interrupts, 1);
        return 0;
    }
    awake(arg);
    atomic_store(&p->was_awake, fi_load_relaxed(&idle.polling) == NULL);
    return 1;
}

static void interrupt_fake(fi_poller *base)
{
    fake_poller *p = (fake_poller *)(void *)base;

    atomic_fetch_add(&p->interrupts, 1);
    post(p);
}

static bool unpolled(void *ctx)
{
    (void)ctx;
    return fi_idle_is_unpolled(&idle);
}

static void *sleep_once(void *arg)
{
    test_worker *o = arg;

    fi_idle_sleep(&idle, &o->sleeper, false, unpolled, NULL, FI_FUTEX_FOREVER);
    atomic_store(&o->awake, true);
    return NULL;
}

static void setup(void)
{
    fi_idle_init(&idle);
    poller = (fake_poller){.poller = {.poll = poll_fake, .interrupt = interrupt_fake}};
    CHECK(fi_idle_set_poller(&idle, &poller.poller) == &poller.poller);
    CHECK(fi_idle_set_poller(&idle, NULL) == &poller.poller);
}

static void start_sleeping(int i)
{
    uint32_t before = fi_load_relaxed(&idle.state) % FI_IDLE_SEARCHER;

    all[i] = (test_worker){.awake = false};
    CHECK_INT(pthread_create(&all[i].thread, NULL, sleep_once, &all[i]), 0);
    while (fi_load_relaxed(&idle.state) % FI_IDLE_SEARCHER == before)
        sched_yield();
    fi_lock_lock(&idle.lock); /* a sleeper is counted before it decides whether it polls */
    fi_lock_unlock(&idle.lock);
}

static void await_awake(int i)
{
    pthread_join(all[i].thread, NULL);
    CHECK(atomic_load(&all[i].awake));
}

/* The woken worker has found work. */
static void end_search(void)
{
    fi_idle_search_end(&idle);
}

static fi_sleeper *polling(void)
{
    return fi_load_relaxed(&idle.polling);
}

/* ---- the tests ---- */

static void without_interests_no_worker_polls(void **state)
{
    (void)state;
    setup();
    start_sleeping(0);
    CHECK(polling() == NULL);
    CHECK(fi_idle_notify(&idle));
    await_awake(0);
    CHECK_INT(atomic_load(&poller.interrupts), 0);
}

static void the_first_interest_wakes_a_worker(void **state)
{
    (void)state;
    setup();
    start_sleeping(0);
    fi_idle_add_interest(&idle);
    await_awake(0);
    end_search();
    start_sleeping(0);
    CHECK(polling() == &all[0].sleeper);
    fi_idle_add_interest(&idle); /* a further interest wakes no worker */
    CHECK(!atomic_load(&all[0].awake));
    CHECK(fi_idle_notify(&idle));
    await_awake(0);
    CHECK(polling() == NULL);
}

static void one_worker_polls_and_is_woken_last(void **state)
{
    (void)state;
    setup();
    fi_idle_add_interest(&idle);
    start_sleeping(0);
    start_sleeping(1);
    start_sleeping(2);
    CHECK(polling() == &all[0].sleeper);
    for (int i = 2; i >= 0; i--) {
        CHECK(fi_idle_notify(&idle));
        await_awake(i);
        end_search();
    }
    CHECK(polling() == NULL);
    CHECK(fi_idle_is_unpolled(&idle));
}

static void a_polling_worker_at_the_head_is_woken_last(void **state)
{
    (void)state;
    setup();
    start_sleeping(0);
    start_sleeping(1);
    fi_idle_add_interest(&idle);
    await_awake(1);
    end_search();
    start_sleeping(1);
    CHECK(polling() == &all[1].sleeper);
    CHECK(fi_idle_notify(&idle));
    await_awake(0);
    CHECK(polling() == &all[1].sleeper);
    end_search();
    CHECK(fi_idle_notify(&idle));
    await_awake(1);
}

static void a_polling_worker_is_not_lent(void **state)
{
    fi_sleeper *s;

    (void)state;
    setup();
    fi_idle_add_interest(&idle);
    start_sleeping(0);
    CHECK(fi_idle_borrow(&idle) == NULL);
    start_sleeping(1);
    s = fi_idle_borrow(&idle);
    CHECK(s == &all[1].sleeper);
    CHECK(fi_idle_borrow(&idle) == NULL);
    fi_idle_return(&idle, s, false, unpolled, NULL);
    CHECK(!atomic_load(&all[1].awake));
    fi_idle_wake_all(&idle);
    await_awake(0);
    await_awake(1);
}

/* An interest was added while the worker was lent.  Only the worker's own thread can poll for
 * it. */
static void a_returned_worker_wakes_to_poll(void **state)
{
    fi_sleeper *s;

    (void)state;
    setup();
    start_sleeping(0);
    s = fi_idle_borrow(&idle);
    CHECK(s != NULL);
    fi_idle_add_interest(&idle);
    CHECK(!atomic_load(&all[0].awake));
    fi_idle_return(&idle, s, false, unpolled, NULL);
    await_awake(0);
}

/* During the borrower's last check the worker's own thread is woken, finds nothing, and sleeps
 * again, now in the poller. */
static bool wakes_and_polls(void *ctx)
{
    (void)ctx;
    fi_idle_add_interest(&idle);
    await_awake(0);
    end_search();
    start_sleeping(0);
    CHECK(polling() == &all[0].sleeper);
    return true;
}

static void a_returned_worker_that_polls_is_interrupted(void **state)
{
    fi_sleeper *s;

    (void)state;
    setup();
    start_sleeping(0);
    s = fi_idle_borrow(&idle);
    CHECK(s == &all[0].sleeper);
    fi_idle_return(&idle, s, false, wakes_and_polls, NULL);
    await_awake(0);
}

static void an_event_wakes_the_polling_worker(void **state)
{
    (void)state;
    setup();
    fi_idle_add_interest(&idle);
    start_sleeping(0);
    start_sleeping(1);
    atomic_store(&poller.events, 1);
    post(&poller);
    await_awake(0);
    CHECK(atomic_load(&poller.was_awake));
    CHECK_INT(fi_load_relaxed(&idle.state), FI_IDLE_SEARCHER + 1);
    CHECK(fi_idle_search_end(&idle));
    CHECK(fi_idle_notify(&idle)); /* it was the last searcher: another worker is woken to poll */
    await_awake(1);
    start_sleeping(1);
    CHECK(polling() == &all[1].sleeper);
    fi_idle_wake_all(&idle);
    await_awake(1);
}

CHECK_MAIN(without_interests_no_worker_polls, the_first_interest_wakes_a_worker,
           one_worker_polls_and_is_woken_last, a_polling_worker_at_the_head_is_woken_last,
           a_polling_worker_is_not_lent, a_returned_worker_wakes_to_poll,
           a_returned_worker_that_polls_is_interrupted, an_event_wakes_the_polling_worker)
