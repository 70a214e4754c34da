/* filch_signal_wait: signals that come before and during the wait, deadlines and cancellation. */
#include "unit/io/helpers.h"

#include <signal.h>

#ifdef FILCH_EMULATED
#define FIRST_RT (SIGRTMIN + 4) /* the emulator uses the first ones */
#else
#define FIRST_RT SIGRTMIN
#endif

static sigset_t set_of(int a, int b)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, a);
    sigaddset(&set, b);
    return set;
}

static void send_signal(int number)
{
    CHECK_INT(kill(getpid(), number), 0);
}

static intptr_t join(filch_fiber *f)
{
    void *result;

    CHECK_INT(filch_fiber_join(f, &result), 0);
    return (intptr_t)result;
}

/* ---- pending signals, errors, deadlines ---- */

static void *pending_body(void *arg)
{
    sigset_t set = set_of(SIGUSR1, SIGUSR2), other = set_of(SIGUSR1, SIGWINCH), empty;

    (void)arg;
    sigemptyset(&empty);
    CHECK_INT(filch_signal_wait(&set, 0), -ETIMEDOUT);
    CHECK_INT(filch_signal_wait(&set, INT64_MIN), -ETIMEDOUT);
    CHECK_INT(filch_signal_wait(&set, filch_now() + FILCH_MS(3)), -ETIMEDOUT);
    send_signal(SIGUSR2);
    CHECK_INT(filch_signal_wait(&set, 0), SIGUSR2);
    send_signal(SIGUSR1);
    CHECK_INT(filch_signal_wait(&set, FILCH_FOREVER), SIGUSR1);
    CHECK_INT(filch_signal_wait(&set, 0), -ETIMEDOUT);
    CHECK_INT(filch_signal_wait(NULL, 0), -EINVAL);
    CHECK_INT(filch_signal_wait(&empty, 0), -EINVAL);
    CHECK_INT(filch_signal_wait(&other, 0), -EINVAL); /* SIGWINCH is not blocked */
    set = set_of(SIGUSR1, SIGKILL);
    CHECK_INT(filch_signal_wait(&set, 0), -ETIMEDOUT);
    return NULL;
}

static void pending(void)
{
    on_fiber(pending_body, NULL);
    in_thread(pending_body, NULL);
}

/* ---- waits ---- */

static void *wait_one(void *arg)
{
    sigset_t set = set_of((int)(intptr_t)arg, (int)(intptr_t)arg);

    return (void *)(intptr_t)filch_signal_wait(&set, filch_now() + FILCH_S(600));
}

/* filch_dump merges fibers of one function. */
static void *wait_another(void *arg)
{
    return wait_one(arg);
}

static filch_fiber *start_waiting(int number)
{
    filch_fiber *f =
        filch_fiber_start(number == SIGUSR1 ? wait_one : wait_another, (void *)(intptr_t)number);
    char text[64];

    snprintf(text, sizeof text, "waits for signal %d,", number);
    await_dump(text);
    return f;
}

static void wakes(void)
{
    filch_fiber *one = start_waiting(SIGUSR1), *two = start_waiting(SIGUSR2);

    send_signal(SIGUSR2);
    CHECK_INT(join(two), SIGUSR2);
    send_signal(SIGUSR1);
    CHECK_INT(join(one), SIGUSR1);
}

static void cancelled(void)
{
    filch_fiber *f = start_waiting(SIGUSR1);

    filch_fiber_cancel(f);
    CHECK_INT(join(f), -ECANCELED);
    send_signal(SIGUSR1); /* it stays pending */
    CHECK_INT((intptr_t)on_fiber(wait_one, (void *)(intptr_t)SIGUSR1), SIGUSR1);
}

static atomic_int n_taken;

static void *take_one(void *arg)
{
    void *got = wait_one(arg);

    atomic_fetch_add(&n_taken, 1);
    return got;
}

/* Each signal ends the wait of one fiber.  Real-time signals queue. */
static void shared(void)
{
    enum { FIBERS = 6 };
    filch_fiber *f[FIBERS];

    atomic_store(&n_taken, 0);
    for (int i = 0; i < FIBERS; i++)
        f[i] = filch_fiber_start(take_one, (void *)(intptr_t)FIRST_RT);
    for (int i = 0; i < FIBERS - 1; i++)
        send_signal(FIRST_RT);
    while (atomic_load(&n_taken) < FIBERS - 1)
        sched_yield();
    CHECK_INT(atomic_load(&n_taken), FIBERS - 1);
    send_signal(FIRST_RT);
    for (int i = 0; i < FIBERS; i++)
        CHECK_INT(join(f[i]), FIRST_RT);
}

WITH_WORKERS(pending)
WITH_WORKERS(wakes)
WITH_WORKERS(cancelled)
WITH_WORKERS(shared)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK_EACH(test_pending, test_wakes, test_cancelled, test_shared)};
    sigset_t set = set_of(SIGUSR1, SIGUSR2);

    sigaddset(&set, FIRST_RT);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    return CHECK_RUN(tests);
}
