/* A library that uses Filch internally. */
#include <filch/filch.h>

#include <stdatomic.h>
#include <time.h>

long plugin_run(int n);
long plugin_stop(int n);
long plugin_leave(void *counter);
long plugin_go(void *body_and_arg);
long plugin_loop(void *counter);
long plugin_hold(int n);

FILCH_TASK(long, fib, int, n)
{
    long a, b;

    if (n < 2)
        return n;
    FILCH_SPAWN(fib, n - 1);
    b = FILCH_CALL(fib, n - 2);
    a = FILCH_SYNC(fib);
    return a + b;
}

__attribute__((visibility("default"))) long plugin_run(int n)
{
    return FILCH_RUN(fib, n);
}

__attribute__((visibility("default"))) long plugin_stop(int n)
{
    return FILCH_RUN(fib, n) + filch_stop();
}

/* ---- a runtime that other libraries use, too ---- */

static void run_fib(void *arg)
{
    long *n = arg;

    *n = FILCH_RUN(fib, (int)*n);
}

/* The job handle is valid as long as the library holds the runtime, whatever others stop. */
__attribute__((visibility("default"))) long plugin_hold(int n)
{
    long result = n;
    filch_job *job;

    if (filch_start(NULL) < 0)
        return -1;
    job = filch_job_new(run_fib, &result);
    if (!job || filch_job_submit(job) < 0 || FILCH_RUN(fib, n) < 0 || filch_job_wait(job) < 0)
        return -2;
    return filch_stop() < 0 ? -3 : result;
}

/* ---- fibers that exist when the library is closed ---- */

static filch_sem never = FILCH_SEM_INIT(0);

static void loop(void *counter)
{
    for (;;) {
        atomic_fetch_add((atomic_long *)counter, 1);
        filch_yield();
    }
}

static void sleep_and_count(void *counter)
{
    for (;;) {
        atomic_fetch_add((atomic_long *)counter, 1);
        filch_sleep(1000000);
    }
}

static void park(void *unused)
{
    (void)unused;
    filch_sem_wait(&never);
}

static int64_t block(void *counter)
{
    const struct timespec t = {.tv_nsec = 1000000};

    nanosleep(&t, NULL);
    return atomic_fetch_add((atomic_long *)counter, 1);
}

static void block_and_count(void *counter)
{
    for (;;)
        filch_run_blocking(block, counter);
}

/* counter: an array of three, one for each kind of fiber that continues. */
__attribute__((visibility("default"))) long plugin_leave(void *counter)
{
    atomic_long *c = counter;

    return filch_go(park, NULL) + filch_go(loop, &c[0]) + filch_go(sleep_and_count, &c[1]) +
           filch_go(block_and_count, &c[2]);
}

__attribute__((visibility("default"))) long plugin_loop(void *counter)
{
    return filch_go(loop, counter);
}

/* The fiber runs code of the caller. */
__attribute__((visibility("default"))) long plugin_go(void *body_and_arg)
{
    struct {
        void (*body)(void *arg);
        void *arg;
    } *b = body_and_arg;

    return filch_go(b->body, b->arg);
}
