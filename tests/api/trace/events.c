/* events CASE: a program with a known trace.  CASE is one of the functions below. */
#include "fib.h"
#include "main_fiber.h"

#include <filch/filch.h>

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define MESSAGES 20

static filch_chan *chan;
static atomic_bool flag;

/* ---- two fibers and a channel, a steal, a sleep, a blocking call, tasks, a job ---- */

static bool dump_has(const char *words)
{
    static char text[1 << 16];
    FILE *file = tmpfile();
    size_t n = 0;

    if (!file)
        abort();
    if (filch_dump(fileno(file)) == 0) {
        rewind(file);
        n = fread(text, 1, sizeof text - 1, file);
    }
    text[n] = '\0';
    fclose(file);
    return strstr(text, words) != NULL;
}

static bool has_slept(void)
{
    filch_stats stats;

    return filch_stats_get(&stats) == 0 && stats.total.sleeps > 0;
}

/* Blocks until the other fibers wait as the trace must show it. */
static int64_t block(void *arg)
{
    (void)arg;
    while (!dump_has("waits for blocking") || !dump_has("waits for join") || !has_slept())
        usleep(100);
    return 7;
}

static void *ping(void *arg)
{
    for (int i = 0; i < MESSAGES; i++)
        filch_chan_send(chan, &i);
    if (filch_run_blocking(block, arg) != 7)
        abort();
    filch_fiber_set_name("ping, renamed");
    filch_yield();
    return NULL;
}

static void *pong(void *arg)
{
    int got;

    for (int i = 0; i < MESSAGES; i++)
        if (filch_chan_recv(chan, &got) < 0 || got != i)
            abort();
    filch_sleep(FILCH_MS(20));
    return arg;
}

static void set_flag(void *arg)
{
    (void)arg;
    atomic_store(&flag, true);
}

/* The caller keeps its worker until another worker has stolen and run the fiber. */
static void force_steal(void)
{
    atomic_store(&flag, false);
    filch_go(set_flag, NULL);
    while (!atomic_load(&flag))
        ;
}

static void job(void *arg)
{
    (void)arg;
}

static void talk(void *arg)
{
    filch_fiber_attr odd = {.name = "ping \"\\\x01\xff\xc3\xa4\xc3"};
    filch_fiber_attr long_name = {.name =
                                      "pong, whose name is much longer than anybody would want it "
                                      "to be, so that there is no room for all of it"};
    filch_fiber *a, *b;
    filch_job *j = filch_job_new(job, NULL);

    chan = filch_chan_new(sizeof(int), 0);
    a = filch_fiber_start_attr(&odd, ping, arg);
    b = filch_fiber_start_attr(&long_name, pong, arg);
    filch_job_set_name(j, "the job");
    filch_job_submit(j);
    if (filch_job_wait(j) != 0 || FILCH_RUN(fib, 22) != 17711)
        abort();
    if (filch_worker_count() > 1)
        force_steal();
    filch_fiber_join(a, NULL);
    filch_fiber_join(b, NULL);
    filch_chan_free(chan);
}

/* ---- more events than a ring can hold ---- */

static void *yield_often(void *arg)
{
    for (int i = 0; i < 5000; i++)
        filch_yield();
    return arg;
}

static void many(void *arg)
{
    filch_fiber *f[4];

    for (int i = 0; i < 4; i++)
        f[i] = filch_fiber_start(yield_often, arg);
    for (int i = 0; i < 4; i++)
        filch_fiber_join(f[i], NULL);
}

/* ---- a thread that is not a worker ---- */

static void *receive(void *arg)
{
    int got;

    filch_chan_recv(chan, &got);
    return arg;
}

static void wait_for_park(void)
{
    filch_stats stats;

    do
        usleep(100);
    while (filch_stats_get(&stats) < 0 || stats.total.parks == 0);
}

/* The thread wakes a fiber, and then runs a task on a borrowed worker. */
static void external(void)
{
    filch_fiber_attr attr = {.name = "receiver"};
    filch_fiber *f;
    int item = 1;

    chan = filch_chan_new(sizeof item, 0);
    f = filch_fiber_start_attr(&attr, receive, NULL);
    wait_for_park();
    filch_chan_send(chan, &item);
    filch_fiber_join(f, NULL);
    if (FILCH_RUN(fib, 10) != 55)
        abort();
    filch_chan_free(chan);
    filch_stop();
}

/* ---- incidents ---- */

static bool file_exists(const char *path)
{
    struct stat s;

    return path && stat(path, &s) == 0;
}

/* Run until the file exists that the environment variable FILE names. */
static void *spin(void *arg)
{
    while (!file_exists(getenv("FILE")))
        filch_yield();
    return arg;
}

static void signalled(void *arg)
{
    filch_fiber *a = filch_fiber_start(spin, arg), *b = filch_fiber_start(spin, arg);

    raise(SIGUSR1);
    filch_fiber_join(a, NULL);
    filch_fiber_join(b, NULL);
}

static void *hold(void *arg)
{
    while (!file_exists(getenv("FILE")))
        ;
    return arg;
}

static void long_run(void *arg)
{
    filch_fiber_attr attr = {.name = "long_runner"};

    filch_fiber_join(filch_fiber_start_attr(&attr, hold, arg), NULL);
}

static void deadlock(void *arg)
{
    filch_fiber_attr attr = {.name = "lonely"};

    chan = filch_chan_new(sizeof(int), 0);
    filch_fiber_join(filch_fiber_start_attr(&attr, receive, arg), NULL);
}

/* ---- exit() without filch_stop() ---- */

static void exit_in_fiber(void *arg)
{
    (void)arg;
    filch_yield();
    exit(0);
}

static void *yield_forever(void *arg)
{
    for (;;) {
        atomic_store(&flag, true);
        filch_yield();
    }
    return arg;
}

static void exit_beside_fiber(void)
{
    filch_fiber_detach(filch_fiber_start(yield_forever, NULL));
    while (!atomic_load(&flag))
        usleep(100);
    exit(0);
}

/* ---- several runtimes ---- */

static void twice(void)
{
    for (int i = 0; i < 2; i++) {
        FILCH_RUN(fib, 10);
        filch_stop();
    }
}

/* The child has its own runtime and its own trace. */
static void forks(void)
{
    pid_t pid;
    int status;

    FILCH_RUN(fib, 10);
    pid = fork();
    if (pid == 0) {
        FILCH_RUN(fib, 11);
        exit(filch_stop() == 0 ? 0 : 1);
    }
    if (waitpid(pid, &status, 0) != pid || status != 0)
        abort();
    printf("%ld\n", (long)pid);
    filch_stop();
}

/* The child exits at once. */
static void forks_and_exits(void)
{
    pid_t pid;
    int status;

    FILCH_RUN(fib, 10);
    pid = fork();
    if (pid == 0)
        exit(0);
    if (waitpid(pid, &status, 0) != pid || status != 0 || file_exists(getenv("FILE")))
        abort();
    filch_stop();
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*in_fiber)(void *arg);
        void (*in_thread)(void);
    } all[] = {
        {"talk", talk, NULL},
        {"many", many, NULL},
        {"external", NULL, external},
        {"signalled", signalled, NULL},
        {"long_run", long_run, NULL},
        {"deadlock", deadlock, NULL},
        {"exit_in_fiber", exit_in_fiber, NULL},
        {"exit_beside_fiber", NULL, exit_beside_fiber},
        {"twice", NULL, twice},
        {"forks", NULL, forks},
        {"forks_and_exits", NULL, forks_and_exits},
    };

    for (size_t i = 0; argc == 2 && i < sizeof all / sizeof *all; i++) {
        if (strcmp(argv[1], all[i].name) != 0)
            continue;
        if (all[i].in_fiber)
            return run_main_fiber(all[i].in_fiber, NULL) == 0 ? 0 : 1;
        all[i].in_thread();
        return 0;
    }
    return 2;
}
