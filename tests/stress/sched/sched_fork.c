/* fork() and exit() while the runtime runs.  The child can use Filch, the parent is not disturbed,
 * and neither hangs.  A child that hangs is killed by an alarm, which the parent detects. */
#include "fib.h"
#include "unit/task/helpers.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHILD_SECONDS 600
#define FORKS         SCALED(40)

static bool ended_with(pid_t pid, int code)
{
    int status;

    return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
           WEXITSTATUS(status) == code;
}

/* The child uses Filch: with an implicit start, with an explicit start, and again. */
static int use_filch_in_child(void)
{
    bool ok = FILCH_RUN(fib, 12) == 144 && filch_worker_count() > 0;

    ok = ok && filch_stop() == 0 && filch_start(&(filch_config){.workers = 3}) == 0;
    ok = ok && FILCH_RUN(fib, 12) == 144 && filch_stop() == 0;
    return ok ? 42 : 1;
}

/* ---- fork handlers of the program use Filch ---- */

static atomic_int handlers_called;

static void before_or_after_fork(void)
{
    (void)filch_worker_count();
    atomic_fetch_add(&handlers_called, 1);
}

/* This constructor runs before those of the library, in any link order, because of its priority. */
__attribute__((constructor(102))) static void add_handlers(void)
{
    (void)pthread_atfork(before_or_after_fork, before_or_after_fork, before_or_after_fork);
}

static void fork_with_handlers(void **state)
{
    pid_t pid;

    (void)state;
    alarm(CHILD_SECONDS); /* fork() itself may hang */
    atomic_store(&handlers_called, 0);
    pid = fork();
    if (pid == 0)
        _exit(atomic_load(&handlers_called) == 2 ? 42 : 1);
    CHECK(ended_with(pid, 42));
    CHECK_INT(atomic_load(&handlers_called), 2);
    alarm(0);
}

/* ---- from a thread, while others run tasks ---- */

static atomic_int enough;

static void *run_until_stopped(void *wrong)
{
    while (!atomic_load(&enough))
        if (FILCH_RUN(fib, 14) != 377)
            atomic_fetch_add((atomic_int *)wrong, 1);
    return NULL;
}

static void fork_in_a_thread(void)
{
    atomic_int wrong = 0;
    pthread_t threads[2];

    atomic_store(&enough, 0);
    for (int i = 0; i < 2; i++)
        CHECK_INT(pthread_create(&threads[i], NULL, run_until_stopped, &wrong), 0);
    for (int i = 0; i < FORKS; i++) {
        pid_t pid = fork();

        if (pid == 0) {
            alarm(CHILD_SECONDS);
            _exit(use_filch_in_child());
        }
        CHECK(ended_with(pid, 42));
    }
    atomic_store(&enough, 1);
    for (int i = 0; i < 2; i++)
        CHECK_INT(pthread_join(threads[i], NULL), 0);
    CHECK_INT(atomic_load(&wrong), 0);
    CHECK_INT(FILCH_RUN(fib, 14), 377);
}

/* ---- from a task between spawns ---- */

/* A task that was spawned before the fork may be stolen.  In the child it would never end.  So the
 * task spawns after the fork. */
FILCH_TASK(int, forks, int, n)
{
    pid_t pid;
    bool ok;

    FILCH_SPAWN(fib, 8);
    ok = FILCH_SYNC(fib) == 21;
    pid = fork();
    if (pid == 0)
        alarm(CHILD_SECONDS);
    for (int i = 0; i < n; i++)
        FILCH_SPAWN(fib, 8);
    for (int i = 0; i < n; i++)
        ok = FILCH_SYNC(fib) == 21 && ok;
    if (pid == 0)
        _exit(ok ? use_filch_in_child() : 2);
    return ok && ended_with(pid, 42);
}

static void fork_in_a_task(void)
{
    atomic_int wrong = 0;
    pthread_t other;

    atomic_store(&enough, 0);
    CHECK_INT(pthread_create(&other, NULL, run_until_stopped, &wrong), 0);
    for (int i = 0; i < FORKS; i++)
        CHECK_INT(FILCH_RUN(forks, 20), 1);
    atomic_store(&enough, 1);
    CHECK_INT(pthread_join(other, NULL), 0);
    CHECK_INT(atomic_load(&wrong), 0);
}

/* The child returns from the task in which it was forked.  No thread waits for the task in the
 * child, so the child exits like a process after its last thread. */
static pid_t made;

FILCH_VOID_TASK(forks_and_returns)
{
    made = fork();
    if (made == 0)
        alarm(CHILD_SECONDS);
}

static void a_forked_task_ends(void)
{
    for (int i = 0; i < FORKS; i++) {
        FILCH_RUN(forks_and_returns);
        CHECK(ended_with(made, 0));
    }
}

/* A child of a child. */
FILCH_TASK(int, forks_twice, int, n)
{
    pid_t pid = fork();

    if (pid > 0)
        return ended_with(pid, 42);
    alarm(CHILD_SECONDS);
    if (n > 0)
        _exit(FILCH_RUN(forks_twice, n - 1) == 1 ? 42 : 1);
    _exit(use_filch_in_child());
}

static void children_of_children(void)
{
    for (int i = 0; i < SCALED(20); i++)
        CHECK_INT(FILCH_RUN(forks_twice, 3), 1);
}

/* ---- exit ---- */

FILCH_VOID_TASK(exit_with, int, code)
{
    FILCH_SPAWN(fib, 15);
    if (code != 0)
        exit(code);
    FILCH_SYNC(fib);
}

static atomic_int staying;

FILCH_VOID_TASK(never_ends)
{
    atomic_store(&staying, 1);
    for (;;) {
        FILCH_SPAWN(fib, 10);
        FILCH_SYNC(fib);
    }
}

static void *run_never_ends(void *arg)
{
    FILCH_RUN(never_ends);
    return arg;
}

static void exit_in_a_task(void)
{
    FILCH_RUN(exit_with, 43);
}

static void exit_beside_tasks(void)
{
    pthread_t thread;

    for (int i = 0; i < 2; i++)
        if (pthread_create(&thread, NULL, run_never_ends, NULL) != 0)
            exit(1);
    while (!atomic_load(&staying))
        sched_yield();
    exit(43);
}

static void exit_beside_idle_workers(void)
{
    FILCH_RUN(fib, 12);
    exit(43);
}

static void check_exits(void (*way)(void))
{
    for (int i = 0; i < 2 * FORKS; i++) {
        filch_config c = {.workers = 1 + (unsigned)i % 8};
        pid_t pid = fork();

        if (pid == 0) {
            alarm(CHILD_SECONDS);
            if (filch_start(&c) == 0)
                way();
            _exit(1);
        }
        CHECK(ended_with(pid, 43));
    }
}

/* In the child of a process with several threads, a lock of the sanitizer may be held for ever (the
 * allocator of gcc 12), or the sanitizer does not support new threads (ThreadSanitizer). */
static bool is_skipped(void)
{
    if (FI_UNDER_ASAN || FI_UNDER_TSAN || EMULATED)
        puts("skipped: sanitizers and emulators do not support fork() with several threads");
    return FI_UNDER_ASAN || FI_UNDER_TSAN || EMULATED;
}

static void forks_in_threads(void **state)
{
    (void)state;
    if (is_skipped())
        return;
    workers_each(NULL, fork_in_a_thread);
}

static void forks_in_tasks(void **state)
{
    (void)state;
    if (is_skipped())
        return;
    for (size_t i = 0; i < LAB_DEQUES; i++) {
        workers_each_with((lab_settings){.deque = lab_deques[i]}, NULL, fork_in_a_task);
        workers_each_with((lab_settings){.deque = lab_deques[i], .publish = "eager"}, NULL,
                          fork_in_a_task);
    }
    workers_each(NULL, a_forked_task_ends);
    workers_each(NULL, children_of_children);
}

static void exits_in_tasks(void **state)
{
    (void)state;
    check_exits(exit_in_a_task);
}

static void exits_beside_tasks(void **state)
{
    (void)state;
    check_exits(exit_beside_tasks);
    check_exits(exit_beside_idle_workers);
}

CHECK_MAIN(fork_with_handlers, forks_in_threads, forks_in_tasks, exits_in_tasks, exits_beside_tasks)
