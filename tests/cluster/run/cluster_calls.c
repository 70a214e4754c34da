/* The order of calls: start, runs, stop, in one process. */
#include "../observe/messages.h"
#include "child.h"

#include <errno.h>
#include <filch/cluster.h>
#include <filch/fiber.h>
#include <filch/runtime.h>
#include <filch/time.h>
#include <pthread.h>
#include <stdatomic.h>

static int count(uint64_t lo, uint64_t hi, void *ctx)
{
    atomic_fetch_add((atomic_ullong *)ctx, hi - lo);
    return 0;
}

static void calls_need_a_start(void **state)
{
    atomic_ullong n = 0;

    (void)state;
    messages_reset();
    CHECK_INT(filch_cluster_rank(), 0);
    CHECK_INT(filch_cluster_ranks(), 1);
    CHECK_INT(filch_cluster_for(0, 10, 0, count, &n), -EINVAL);
    CHECK(strstr(messages, "filch_cluster_for: the cluster has not been started in this process"));
    CHECK_INT(filch_cluster_stop(), -EINVAL);
    CHECK(strstr(messages, "filch_cluster_stop: the cluster has not been started in this process"));
    CHECK_INT(atomic_load(&n), 0);
    filch_set_message_handler(NULL, NULL);
}

/* The message of the start is the only one. */
static void stop_after_a_failed_start_is_silent(void **state)
{
    (void)state;
    messages_reset();
    CHECK_INT(filch_cluster_start(&(filch_cluster_config){.transport = "tcp"}), -EINVAL);
    CHECK_INT(filch_cluster_stop(), -EINVAL);
    CHECK_STR(messages,
              "filch_cluster_start: unknown transport ('tcp'); use 'auto', 'one' or 'mpi'\n");
    filch_set_message_handler(NULL, NULL);
}

static void start_and_stop_come_in_pairs(void **state)
{
    atomic_ullong n = 0;

    (void)state;
    messages_reset();
    for (unsigned i = 0; i < 20; i++) {
        CHECK_INT(filch_cluster_start(NULL), 0);
        CHECK_INT(filch_cluster_start(NULL), -EALREADY);
        CHECK_INT(filch_cluster_for(0, 10, 0, count, &n), 0);
        CHECK_INT(filch_cluster_stop(), 0);
        CHECK_INT(filch_cluster_stop(), -EINVAL);
        CHECK_INT(filch_worker_count(), 0);
    }
    CHECK_INT(atomic_load(&n), 200);
    CHECK_INT(n_messages, 40);
    filch_set_message_handler(NULL, NULL);
}

/* A host program may hold the runtime for itself. */
static void a_running_runtime_is_used(void **state)
{
    atomic_ullong n = 0;

    (void)state;
    CHECK_INT(filch_start(&(filch_config){.workers = 3}), 0);
    CHECK_INT(filch_cluster_start(NULL), 0);
    CHECK_INT(filch_worker_count(), 3);
    CHECK_INT(filch_cluster_for(0, 1000, 1, count, &n), 0);
    CHECK_INT(filch_cluster_stop(), 0);
    CHECK_INT(filch_worker_count(), 3);
    CHECK_INT(filch_stop(), 0);
    CHECK_INT(atomic_load(&n), 1000);
}

static int run_inside(uint64_t lo, uint64_t hi, void *ctx)
{
    (void)lo;
    (void)hi;
    return filch_cluster_for(0, 10, 0, count, ctx);
}

static int stop_inside(uint64_t lo, uint64_t hi, void *ctx)
{
    (void)lo;
    (void)hi;
    (void)ctx;
    return filch_cluster_stop();
}

static void a_run_excludes_others(void **state)
{
    atomic_ullong n = 0;

    (void)state;
    messages_reset();
    CHECK_INT(filch_cluster_start(NULL), 0);
    CHECK_INT(filch_cluster_for(0, 1, 0, run_inside, &n), -EBUSY);
    CHECK(strstr(messages, "filch_cluster_for: another run of this process is in progress"));
    CHECK_INT(filch_cluster_for(0, 1, 0, stop_inside, &n), -EBUSY);
    CHECK(strstr(messages, "filch_cluster_stop: a run is in progress"));
    CHECK_INT(atomic_load(&n), 0);
    CHECK_INT(filch_cluster_stop(), 0);
    filch_set_message_handler(NULL, NULL);
}

/* ---- callers ---- */

static void *run_in_thread(void *ctx)
{
    CHECK_INT(filch_cluster_for(0, 1000, 1, count, ctx), 0);
    return NULL;
}

static int wait_and_count(uint64_t lo, uint64_t hi, void *ctx)
{
    filch_sleep(FILCH_MS(1));
    return count(lo, hi, ctx);
}

/* A cancelled fiber completes its run. */
static void *run_cancelled(void *ctx)
{
    filch_fiber_cancel(filch_fiber_self());
    CHECK_INT(filch_cluster_for(0, 20, 1, wait_and_count, ctx), 0);
    return NULL;
}

static void threads_and_fibers_make_runs(void **state)
{
    atomic_ullong n = 0;
    pthread_t thread;
    filch_fiber *fiber;

    (void)state;
    CHECK_INT(filch_cluster_start(NULL), 0);
    CHECK_INT(pthread_create(&thread, NULL, run_in_thread, &n), 0);
    CHECK_INT(pthread_join(thread, NULL), 0);
    fiber = filch_fiber_start(run_in_thread, &n);
    CHECK(fiber);
    CHECK_INT(filch_fiber_join(fiber, NULL), 0);
    fiber = filch_fiber_start(run_cancelled, &n);
    CHECK(fiber);
    filch_fiber_join(fiber, NULL);
    CHECK_INT(atomic_load(&n), 2020);
    CHECK_INT(filch_cluster_stop(), 0);
}

/* ---- exit and fork ---- */

#ifndef FILCH_EMULATED

static void exit_after_start(void *arg)
{
    (void)arg;
    filch_cluster_start(NULL);
    exit(0);
}

static void exit_before_stop_fails(void **state)
{
    struct child_end end;

    (void)state;
    CHECK_INT(child_end_of(&end, exit_after_start, NULL), 0);
    CHECK(WIFEXITED(end.status));
    CHECK_INT(WEXITSTATUS(end.status), 1);
    CHECK_STR(end.text, "filch: exit() was called between filch_cluster_start and "
                        "filch_cluster_stop; all ranks end with status 1\n");
}

/* The child of a fork() has no part in the cluster. */
static void a_forked_child_has_no_cluster(void **state)
{
    atomic_ullong n = 0;
    int status = 0;
    pid_t child;

    (void)state;
    CHECK_INT(filch_cluster_start(NULL), 0);
    child = fork();
    if (child == 0) {
        messages_reset();
        exit(filch_cluster_for(0, 10, 0, count, &n) == -EINVAL &&
                     filch_cluster_start(NULL) == -EINVAL && filch_cluster_stop() == -EINVAL
                 ? 7
                 : 1);
    }
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status));
    CHECK_INT(WEXITSTATUS(status), 7);
    CHECK_INT(filch_cluster_for(0, 10, 0, count, &n), 0);
    CHECK_INT(filch_cluster_stop(), 0);
}

#endif

/* ---- progress ---- */

static atomic_ullong reported, reports;

static void on_progress(const filch_progress *now, void *ctx)
{
    CHECK(ctx == &reported);
    CHECK_INT(now->ranks, 1);
    CHECK(now->busy <= 1 && now->seconds >= 0 && now->oldest_silence_ns == 0);
    atomic_store(&reported, now->items);
    atomic_fetch_add(&reports, 1);
}

/* The run lasts until there are three reports. */
static int until_reported(uint64_t lo, uint64_t hi, void *ctx)
{
    (void)ctx;
    while (lo == 0 && hi > 0 && atomic_load(&reports) < 3)
        filch_sleep(FILCH_MS(1));
    return 0;
}

static void progress_is_reported(void **state)
{
    filch_cluster_config config = {
        .progress_ns = FILCH_MS(5), .progress = on_progress, .progress_ctx = &reported};

    (void)state;
    CHECK_INT(filch_cluster_start(&config), 0);
    CHECK_INT(filch_cluster_for(0, 100, 1, until_reported, NULL), 0);
    CHECK(atomic_load(&reported) <= 100);
    CHECK_INT(filch_cluster_stop(), 0);
}

#ifndef FILCH_EMULATED
CHECK_MAIN(calls_need_a_start, stop_after_a_failed_start_is_silent, start_and_stop_come_in_pairs,
           a_running_runtime_is_used, a_run_excludes_others, threads_and_fibers_make_runs,
           progress_is_reported, exit_before_stop_fails, a_forked_child_has_no_cluster)
#else
CHECK_MAIN(calls_need_a_start, stop_after_a_failed_start_is_silent, start_and_stop_come_in_pairs,
           a_running_runtime_is_used, a_run_excludes_others, threads_and_fibers_make_runs,
           progress_is_reported)
#endif
