/* Signals all the time, workers that get no CPU for long, many more workers than CPUs.  No task is
 * lost, and no thread hangs. */
#include "fib.h"
#include "unit/task/helpers.h"

#include <ctype.h>
#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

FILCH_TASK(long, tree, int, depth)
{
    long sum = 1;

    if (depth == 0)
        return 1;
    for (int i = 0; i < 20; i++)
        FILCH_SPAWN(tree, depth - 1);
    for (int i = 0; i < 20; i++)
        sum += FILCH_SYNC(tree);
    return sum;
}

static void work(int rounds)
{
    for (int i = 0; i < rounds; i++) {
        CHECK_INT(FILCH_RUN(fib, 18), 2584);
        CHECK_INT(FILCH_RUN(tree, 3), 1 + 20 + 400 + 8000);
    }
}

/* ---- the threads of the workers ---- */

#define THREADS_MAX 64

/* The name of the running runtime: a joined thread of an earlier one may still be in /proc. */
static char runtime_name[16];

/* The name of a worker is that of the runtime and a number. */
static bool is_worker(const char *tid)
{
    char path[300], name[32] = "";
    size_t length = strlen(runtime_name);
    FILE *f;

    snprintf(path, sizeof path, "/proc/self/task/%s/comm", tid);
    f = fopen(path, "r");
    if (!f)
        return false;
    if (!fgets(name, sizeof name, f))
        name[0] = '\0';
    fclose(f);
    return strncmp(name, runtime_name, length) == 0 && name[length] == '-' &&
           isdigit((unsigned char)name[length + 1]);
}

static int find_workers(pid_t *tids)
{
    DIR *dir = opendir("/proc/self/task");
    int n = 0;

    CHECK(dir != NULL);
    for (struct dirent *e; n < THREADS_MAX && (e = readdir(dir)) != NULL;)
        if (is_worker(e->d_name))
            tids[n++] = (pid_t)strtol(e->d_name, NULL, 10);
    closedir(dir);
    return n;
}

/* Threads set their own names, so wait until all are named. */
static int all_workers(pid_t *tids)
{
    int n;

    while ((n = find_workers(tids)) < (int)filch_worker_count())
        sched_yield();
    return n;
}

static void send(pid_t tid, int sig)
{
    CHECK_INT(syscall(SYS_tgkill, getpid(), tid, sig), 0);
}

/* ---- many signals ---- */

static atomic_long seen;
static atomic_int calm;

static void on_signal(int sig)
{
    (void)sig;
    atomic_fetch_add(&seen, 1);
}

static void handle(int sig, void (*handler)(int), int flags)
{
    struct sigaction a = {.sa_handler = handler, .sa_flags = flags};

    sigemptyset(&a.sa_mask);
    CHECK_INT(sigaction(sig, &a, NULL), 0);
}

typedef struct targets {
    pid_t tids[THREADS_MAX];
    int n;
} targets;

static void *send_signals(void *arg)
{
    const targets *t = arg;
    const struct timespec pause = {0, 20000};

    for (unsigned i = 0; !atomic_load(&calm); i++) {
        syscall(SYS_tgkill, getpid(), t->tids[i % (unsigned)t->n], SIGUSR1);
        nanosleep(&pause, NULL);
    }
    return NULL;
}

static void signals_with(int flags)
{
    struct itimerval often = {{0, 100}, {0, 100}}, never = {{0, 0}, {0, 0}};
    targets t;
    pthread_t wind;

    handle(SIGUSR1, on_signal, flags);
    handle(SIGALRM, on_signal, flags);
    t.n = all_workers(t.tids);
    atomic_store(&calm, 0);
    atomic_store(&seen, 0);
    CHECK_INT(pthread_create(&wind, NULL, send_signals, &t), 0);
    CHECK_INT(setitimer(ITIMER_REAL, &often, NULL), 0);
    do
        work(SCALED(20));
    while (atomic_load(&seen) < 100);
    CHECK_INT(setitimer(ITIMER_REAL, &never, NULL), 0);
    atomic_store(&calm, 1);
    CHECK_INT(pthread_join(wind, NULL), 0);
}

static void signals_with_and_without_restart(void)
{
    signals_with(0);
    signals_with(SA_RESTART);
    signals_with(SA_ONSTACK);
}

/* ---- a worker that is stopped for a time ---- */

static atomic_int stalled;

static void stall(int sig)
{
    const struct timespec a_while = {0, 100000000};

    (void)sig;
    nanosleep(&a_while, NULL);
    atomic_fetch_add(&stalled, 1);
}

static void stall_one_by_one(void)
{
    pid_t tids[THREADS_MAX];
    int n = all_workers(tids);

    handle(SIGUSR2, stall, 0);
    atomic_store(&stalled, 0);
    for (int i = 0; i < n; i++) {
        send(tids[i], SIGUSR2);
        do
            work(1);
        while (atomic_load(&stalled) <= i);
    }
}

static void each_worker_count(const char *publish, void (*test)(void))
{
    static int runtimes;

    set_lab_settings((lab_settings){.publish = publish});
    for (size_t i = 0; i < sizeof workers_counts / sizeof *workers_counts; i++) {
        if (!is_selected(workers_counts[i]))
            continue;
        snprintf(runtime_name, sizeof runtime_name, "stress%d", runtimes++);
        CHECK_INT(filch_start(&(filch_config){.workers = workers_counts[i], .name = runtime_name}),
                  0);
        test();
        CHECK_INT(filch_stop(), 0);
    }
}

static void signals(void **state)
{
    (void)state;
    each_worker_count("lazy", signals_with_and_without_restart);
    each_worker_count("eager", signals_with_and_without_restart);
}

static void stalls(void **state)
{
    (void)state;
    each_worker_count("lazy", stall_one_by_one);
}

static void sixty_four_workers(void **state)
{
    (void)state;
    for (int eager = 0; eager < 2; eager++) {
        set_lab_settings((lab_settings){.publish = eager ? "eager" : "lazy"});
        CHECK_INT(filch_start(&(filch_config){.workers = 64}), 0);
        work(SCALED(100));
        CHECK_INT(filch_stop(), 0);
    }
}

static void maximum_number_of_workers(void **state)
{
    (void)state;
    set_lab_settings((lab_settings){0});
    CHECK_INT(filch_start(&(filch_config){.workers = SCALED(FILCH_WORKERS_MAX)}), 0);
    work(3);
    CHECK_INT(filch_stop(), 0);
}

CHECK_MAIN(signals, stalls, sixty_four_workers, maximum_number_of_workers)
