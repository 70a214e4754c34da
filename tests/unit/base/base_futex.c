/* Sleeping and waking.  No test relies on a delay: where a thread must be asleep, the test waits
 * until fi_futex_wake reports a sleeper. */
#include "base/clock.h"
#include "base/futex.h"
#include "check.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>

static void test_other_value(void **state)
{
    FI_ATOMIC(uint32_t) word = 5;

    (void)state;
    CHECK_INT(fi_futex_wait(&word, 4, FI_FUTEX_FOREVER), -EAGAIN);
    CHECK_INT(fi_futex_wait(&word, 4, 0), -EAGAIN);
    word = UINT32_MAX;
    CHECK_INT(fi_futex_wait(&word, 0, FI_FUTEX_FOREVER), -EAGAIN);
}

static void test_deadline_in_the_past(void **state)
{
    FI_ATOMIC(uint32_t) word = UINT32_MAX;

    (void)state;
    CHECK_INT(fi_futex_wait(&word, UINT32_MAX, 0), -ETIMEDOUT);
    CHECK_INT(fi_futex_wait(&word, UINT32_MAX, -1), -ETIMEDOUT);
    CHECK_INT(fi_futex_wait(&word, UINT32_MAX, INT64_MIN), -ETIMEDOUT);
    CHECK_INT(fi_futex_wait(&word, UINT32_MAX, fi_clock_now()), -ETIMEDOUT);
}

/* The wait ends after the deadline.  The delay is not checked. */
static void test_deadline_in_the_future(void **state)
{
    FI_ATOMIC(uint32_t) word = 0;
    int e;

    (void)state;
    int64_t deadline = fi_clock_now() + 3000000;
    while ((e = fi_futex_wait(&word, 0, deadline)) == 0)
        CHECK(fi_clock_now() < deadline);
    CHECK_INT(e, -ETIMEDOUT);
    CHECK(fi_clock_now() >= deadline);
}

static void test_wake_without_sleepers(void **state)
{
    FI_ATOMIC(uint32_t) word = 0;

    (void)state;
    CHECK_INT(fi_futex_wake(&word, 1), 0);
    CHECK_INT(fi_futex_wake(&word, INT_MAX), 0);
    CHECK_INT(fi_futex_wake(&word, 0), 0);
    CHECK_INT(fi_futex_wake(&word, -1), 0);
}

#define SLEEPERS 4

static FI_ATOMIC(uint32_t) bed;

static void *sleep_once(void *arg)
{
    int *result = arg;

    *result = fi_futex_wait(&bed, 0, FI_FUTEX_FOREVER);
    return NULL;
}

/* The word never changes, so each sleeper returns because of a wake and is counted once. */
static void test_wake_counts(void **state)
{
    pthread_t thread[SLEEPERS];
    int result[SLEEPERS];
    int woken = 0;

    (void)state;
    for (int i = 0; i < SLEEPERS; i++)
        CHECK_INT(pthread_create(&thread[i], NULL, sleep_once, &result[i]), 0);
    while (woken < 2) {
        CHECK_INT(fi_futex_wake(&bed, 0), 0);
        int n = fi_futex_wake(&bed, 1);
        CHECK(n == 0 || n == 1);
        woken += n;
        sched_yield();
    }
    while (woken < SLEEPERS) {
        woken += fi_futex_wake(&bed, INT_MAX);
        sched_yield();
    }
    for (int i = 0; i < SLEEPERS; i++) {
        pthread_join(thread[i], NULL);
        CHECK_INT(result[i], 0);
    }
    CHECK_INT(woken, SLEEPERS);
}

/* Two threads pass a word to each other, and sleep while the other has it. */
#define ROUNDS 2000

static FI_ATOMIC(uint32_t) turn;
static uint64_t passes; /* not atomic: TSan reports a race if the word does not order it */

static void pass_word(uint32_t mine)
{
    for (int i = 0; i < ROUNDS; i++) {
        uint32_t now;
        while ((now = fi_load_acquire(&turn, test.turn)) % 2 != mine)
            fi_futex_wait(&turn, now, FI_FUTEX_FOREVER);
        passes++;
        fi_store_release(&turn, now + 1, test.turn);
        fi_futex_wake(&turn, 1);
    }
}

static void *odd_side(void *arg)
{
    pass_word(1);
    return arg;
}

static void test_ping_pong(void **state)
{
    pthread_t other;

    (void)state;
    CHECK_INT(pthread_create(&other, NULL, odd_side, NULL), 0);
    pass_word(0);
    pthread_join(other, NULL);
    CHECK_INT(passes, 2 * ROUNDS);
}

static FI_ATOMIC(int) awake;

static void on_signal(int number)
{
    (void)number;
}

static void *sleep_until_signal(void *arg)
{
    static FI_ATOMIC(uint32_t) word;
    int *result = arg;

    *result = fi_futex_wait(&word, 0, FI_FUTEX_FOREVER);
    awake = 1;
    return NULL;
}

/* A signal is a spurious wake-up, not an error.  Signals are sent until one interrupts the
 * sleep. */
static void test_signal(void **state)
{
    struct sigaction action = {.sa_handler = on_signal};
    pthread_t thread;
    int result = -1;

    (void)state;
    CHECK_INT(sigaction(SIGUSR1, &action, NULL), 0);
    CHECK_INT(pthread_create(&thread, NULL, sleep_until_signal, &result), 0);
    while (!awake) {
        pthread_kill(thread, SIGUSR1);
        sched_yield();
    }
    pthread_join(thread, NULL);
    CHECK_INT(result, 0);
}

CHECK_MAIN(test_other_value, test_deadline_in_the_past, test_deadline_in_the_future,
           test_wake_without_sleepers, test_wake_counts, test_ping_pong, test_signal)
