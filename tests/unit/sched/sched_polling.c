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

/* What is to be told, 0: nothing; and how often it was interrupted. */
typedef struct fake {
    fi_poller poller; /* first */
    FI_ATOMIC(uint32_t) wake_seq;
    atomic_int told, interrupts, inside;
    atomic_bool was_awake; /* when it was told */
} fake;

typedef struct one {
    fi_sleeper sleeper;
    pthread_t thread;
    atomic_bool up;
} one;

static fi_idle idle;
static fake poller;
static one all[SLEEPERS];

static void ring(fake *p)
{
    fi_fetch_add_relaxed(&p->wake_seq, 1u);
    fi_futex_wake(&p->wake_seq, INT_MAX);
}

static int poll_fake(fi_poller *base, int64_t deadline_ns, void (*awake)(void *arg), void *arg)
{
    fake *p = (fake *)(void *)base;
    uint32_t wake_seq = fi_load_relaxed(&p->wake_seq);

    CHECK_INT(deadline_ns, FI_FUTEX_FOREVER);
    CHECK_INT(atomic_fetch_add(&p->inside, 1), 0); /* one at a time */
    while (atomic_load(&p->told) == 0 && atomic_load(&p->interrupts) == 0) {
        fi_futex_wait(&p->wake_seq, wake_seq, FI_FUTEX_FOREVER);
        wake_seq = fi_load_relaxed(&p->wake_seq);
    }
    atomic_fetch_sub(&p->inside, 1);
    if (atomic_exchange(&p->told, 0) == 0) {
        atomic_fetch_sub(&p->interrupts, 1);
        return 0;
    }
    awake(arg);
    atomic_store(&p->was_awake, fi_load_relaxed(&idle.polling) == NULL);
    return 1;
}

static void interrupt_fake(fi_poller *base)
{
    fake *p = (fake *)(void *)base;

    atomic_fetch_add(&p->interrupts, 1);
    ring(p);
}

static bool unpolled(void *ctx)
{
    (void)ctx;
    return fi_idle_is_unpolled(&idle);
}

static void *sleep_once(void *arg)
{
    one *o = arg;

    fi_idle_sleep(&idle, &o->sleeper, false, unpolled, NULL, FI_FUTEX_FOREVER);
    atomic_store(&o->up, true);
    return NULL;
}

static void set_up(void)
{
    fi_idle_init(&idle);
    poller = (fake){.poller = {.poll = poll_fake, .interrupt = interrupt_fake}};
    CHECK(fi_idle_set_poller(&idle, &poller.poller) == &poller.poller);
    CHECK(fi_idle_set_poller(&idle, NULL) == &poller.poller);
}

static void put_to_sleep(int i)
{
    uint32_t before = fi_load_relaxed(&idle.state) % FI_IDLE_SEARCHER;

    all[i] = (one){.up = false};
    CHECK_INT(pthread_create(&all[i].thread, NULL, sleep_once, &all[i]), 0);
    while (fi_load_relaxed(&idle.state) % FI_IDLE_SEARCHER == before)
        sched_yield();
    fi_lock_lock(&idle.lock); /* it counts itself first, and then decides whether it polls */
    fi_lock_unlock(&idle.lock);
}

static void await_up(int i)
{
    pthread_join(all[i].thread, NULL);
    CHECK(atomic_load(&all[i].up));
}

/* It has found something. */
static void end_search(void)
{
    fi_idle_search_end(&idle);
}

static fi_sleeper *polling(void)
{
    return fi_load_relaxed(&idle.polling);
}

/* ---- */

static void without_interests_nobody_polls(void **state)
{
    (void)state;
    set_up();
    put_to_sleep(0);
    CHECK(polling() == NULL);
    CHECK(fi_idle_notify(&idle));
    await_up(0);
    CHECK_INT(atomic_load(&poller.interrupts), 0);
}

static void the_first_interest_wakes_somebody(void **state)
{
    (void)state;
    set_up();
    put_to_sleep(0);
    fi_idle_add_interest(&idle);
    await_up(0);
    end_search();
    put_to_sleep(0);
    CHECK(polling() == &all[0].sleeper);
    fi_idle_add_interest(&idle); /* one more is no matter */
    CHECK(!atomic_load(&all[0].up));
    CHECK(fi_idle_notify(&idle));
    await_up(0);
    CHECK(polling() == NULL);
}

static void one_polls_and_is_woken_last(void **state)
{
    (void)state;
    set_up();
    fi_idle_add_interest(&idle);
    put_to_sleep(0);
    put_to_sleep(1);
    put_to_sleep(2);
    CHECK(polling() == &all[0].sleeper);
    for (int i = 2; i >= 0; i--) {
        CHECK(fi_idle_notify(&idle));
        await_up(i);
        end_search();
    }
    CHECK(polling() == NULL);
    CHECK(fi_idle_is_unpolled(&idle));
}

static void who_polls_is_first_in_the_list(void **state)
{
    (void)state;
    set_up();
    put_to_sleep(0);
    put_to_sleep(1);
    fi_idle_add_interest(&idle);
    await_up(1);
    end_search();
    put_to_sleep(1);
    CHECK(polling() == &all[1].sleeper);
    CHECK(fi_idle_notify(&idle));
    await_up(0);
    CHECK(polling() == &all[1].sleeper);
    end_search();
    CHECK(fi_idle_notify(&idle));
    await_up(1);
}

static void who_polls_is_not_lent(void **state)
{
    fi_sleeper *s;

    (void)state;
    set_up();
    fi_idle_add_interest(&idle);
    put_to_sleep(0);
    CHECK(fi_idle_borrow(&idle) == NULL);
    put_to_sleep(1);
    s = fi_idle_borrow(&idle);
    CHECK(s == &all[1].sleeper);
    CHECK(fi_idle_borrow(&idle) == NULL);
    fi_idle_return(&idle, s, false, unpolled, NULL);
    CHECK(!atomic_load(&all[1].up));
    fi_idle_wake_all(&idle);
    await_up(0);
    await_up(1);
}

/* A borrower gives a worker back; something is watched by then, and only the worker's own thread can ask for it. */
static void given_back_it_has_to_poll(void **state)
{
    fi_sleeper *s;

    (void)state;
    set_up();
    put_to_sleep(0);
    s = fi_idle_borrow(&idle);
    CHECK(s != NULL);
    fi_idle_add_interest(&idle);
    CHECK(!atomic_load(&all[0].up));
    fi_idle_return(&idle, s, false, unpolled, NULL);
    await_up(0);
}

/* The worker's own thread is woken while the borrower looks, finds nothing, and sleeps again, now in the poller. */
static bool is_up_and_polls(void *ctx)
{
    (void)ctx;
    fi_idle_add_interest(&idle);
    await_up(0);
    end_search();
    put_to_sleep(0);
    CHECK(polling() == &all[0].sleeper);
    return true;
}

static void given_back_it_polls_already(void **state)
{
    fi_sleeper *s;

    (void)state;
    set_up();
    put_to_sleep(0);
    s = fi_idle_borrow(&idle);
    CHECK(s == &all[0].sleeper);
    fi_idle_return(&idle, s, false, is_up_and_polls, NULL);
    await_up(0);
}

static void what_is_told_wakes(void **state)
{
    (void)state;
    set_up();
    fi_idle_add_interest(&idle);
    put_to_sleep(0);
    put_to_sleep(1);
    atomic_store(&poller.told, 1);
    ring(&poller);
    await_up(0);
    CHECK(atomic_load(&poller.was_awake));
    CHECK_INT(fi_load_relaxed(&idle.state), FI_IDLE_SEARCHER + 1);
    CHECK(fi_idle_search_end(&idle));
    CHECK(fi_idle_notify(&idle)); /* as it was the last: another takes its place */
    await_up(1);
    put_to_sleep(1);
    CHECK(polling() == &all[1].sleeper);
    fi_idle_wake_all(&idle);
    await_up(1);
}

CHECK_MAIN(without_interests_nobody_polls, the_first_interest_wakes_somebody,
           one_polls_and_is_woken_last, who_polls_is_first_in_the_list, who_polls_is_not_lent,
           given_back_it_has_to_poll, given_back_it_polls_already, what_is_told_wakes)
