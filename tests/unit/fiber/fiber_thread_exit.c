/* pthread_exit in code that the runtime runs aborts with a line that names the mistake.  A
 * worker thread cannot be cancelled. */
#include "child.h"
#include "unit/task/helpers.h"

#include <filch/io.h>

#include <pthread.h>
#include <stdatomic.h>

static void start(unsigned workers, filch_caller_runs caller_runs)
{
    /* Under an emulator pthread_exit may take longer than the watchdog allows. */
    const filch_config c = {.workers = workers, .caller_runs = caller_runs, .watchdog_ns = -1};

    alarm(60); /* a missed exit would make the process wait for ever */
    if (filch_start(&c) < 0)
        _exit(3);
}

/* ---- pthread_exit ---- */

static void exit_thread(void *arg)
{
    filch_fiber_set_name("leaver");
    pthread_exit(arg);
}

static void go(void *arg)
{
    start(2, FILCH_CALLER_RUNS_NO);
    if (filch_go(exit_thread, arg) < 0)
        _exit(3);
    filch_stop();
}

/* After a switch the fiber may run on another thread than at its start. */
static void exit_later(void *arg)
{
    filch_fiber_set_name("leaver");
    filch_sleep(1000000);
    pthread_exit(arg);
}

static void go_and_sleep(void *arg)
{
    start(1, FILCH_CALLER_RUNS_NO);
    if (filch_go(exit_later, arg) < 0)
        _exit(3);
    filch_stop();
}

static void piece(void *arg)
{
    filch_group g = FILCH_GROUP_INIT;

    start(2, FILCH_CALLER_RUNS_NO);
    filch_group_run(&g, exit_thread, arg);
    filch_group_wait(&g);
}

FILCH_VOID_TASK(exit_in_task, int, n)
{
    (void)n;
    exit_thread(NULL);
}

static void task(void *arg)
{
    (void)arg;
    start(2, FILCH_CALLER_RUNS_NO);
    FILCH_RUN(exit_in_task, 1);
}

/* The calling thread runs the task. */
static void task_in_caller(void *arg)
{
    (void)arg;
    start(2, FILCH_CALLER_RUNS_YES);
    FILCH_RUN(exit_in_task, 1);
}

static void *run_task(void *arg)
{
    (void)arg;
    FILCH_RUN(exit_in_task, 1);
    return NULL;
}

static void task_in_other_caller(void *arg)
{
    pthread_t t;

    (void)arg;
    start(2, FILCH_CALLER_RUNS_YES);
    if (pthread_create(&t, NULL, run_task, NULL) == 0)
        pthread_join(t, NULL);
}

static int64_t exit_in_call(void *arg)
{
    pthread_exit(arg);
}

static void call(void *arg)
{
    filch_run_blocking(exit_in_call, arg);
}

static void blocking(void *arg)
{
    start(2, FILCH_CALLER_RUNS_NO);
    if (filch_go(call, arg) < 0)
        _exit(3);
    filch_stop();
}

static void check_message(void (*fn)(void *), const char *words)
{
    struct child_end end;

    CHECK_INT(child_end_of(&end, fn, NULL), 0);
    if (!WIFSIGNALED(end.status) || WTERMSIG(end.status) != SIGABRT ||
        strncmp(end.text, "filch: pthread_exit: ", 21) != 0 || !strstr(end.text, words))
        fprintf(stderr, "%s: status %#x, said: %s\n", words, (unsigned)end.status, end.text);
    CHECK(WIFSIGNALED(end.status) && WTERMSIG(end.status) == SIGABRT);
    CHECK(strncmp(end.text, "filch: pthread_exit: ", 21) == 0 && strstr(end.text, words));
}

static void thread_exits_are_reported(void **state)
{
    (void)state;
    if (FI_UNDER_ASAN || FI_UNDER_TSAN) {
        puts("skipped: the sanitizer aborts a program that leaves a fiber's stack this way");
        return;
    }
    check_message(go, "in fiber 'leaver'");
    check_message(go_and_sleep, "the thread of worker 0 ended in fiber 'leaver'");
    check_message(piece, "in fiber 'leaver'");
    check_message(task, "in fiber 'leaver'");
    check_message(task_in_caller, "in fiber 'leaver'");
    check_message(task_in_other_caller, "in fiber 'leaver'");
    check_message(blocking, "given to filch_run_blocking");
}

/* ---- pthread_cancel ---- */

static _Atomic pthread_t workers_thread;
static atomic_bool is_cancelled;

static void show_thread(void *sem)
{
    atomic_store(&workers_thread, pthread_self());
    filch_sem_post(sem);
    while (!atomic_load(&is_cancelled))
        pthread_testcancel();
    for (int i = 0; i < 1000; i++)
        pthread_testcancel();
    filch_sem_post(sem);
}

static int64_t add_one(void *n)
{
    pthread_testcancel();
    return ++*(int *)n;
}

static void block(void *n)
{
    filch_run_blocking(add_one, n);
}

/* Also while the worker sleeps in the poller. */
static void workers_cannot_be_cancelled(void **state)
{
    const filch_config c = {.workers = 1, .caller_runs = FILCH_CALLER_RUNS_NO};
    filch_sem sem = FILCH_SEM_INIT(0);
    int n = 0;

    (void)state;
    CHECK_INT(filch_start(&c), 0);
    CHECK_INT(filch_go(show_thread, &sem), 0);
    CHECK_INT(filch_sem_wait(&sem), 0);
    CHECK_INT(pthread_cancel(atomic_load(&workers_thread)), 0);
    atomic_store(&is_cancelled, true);
    CHECK_INT(filch_sem_wait(&sem), 0);
    CHECK_INT(filch_go(block, &n), 0);
    CHECK_INT(filch_stop(), 0);
    CHECK_INT(n, 1);
}

/* A thread that has run a task may call pthread_exit afterwards. */
FILCH_TASK(int, same, int, n)
{
    return n;
}

static void *run_and_exit(void *arg)
{
    pthread_exit(FILCH_RUN(same, 5) == 5 ? arg : NULL);
}

static void callers_may_exit(void **state)
{
    const filch_config c = {.workers = 2, .caller_runs = FILCH_CALLER_RUNS_YES};
    void *result;
    pthread_t t;

    CHECK_INT(filch_start(&c), 0);
    CHECK_INT(pthread_create(&t, NULL, run_and_exit, &result), 0);
    CHECK_INT(pthread_join(t, &result), 0);
    CHECK(result == &result);
    CHECK_INT(filch_stop(), 0);
    (void)state;
}

CHECK_MAIN(thread_exits_are_reported, workers_cannot_be_cancelled, callers_may_exit)
