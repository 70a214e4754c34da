/* load PLUGIN: load a library that uses Filch, run tasks in it and close it, fifty times.  The
 * runtime is stopped before or left running.  After a stop no worker thread is left.
 *
 * load PLUGIN live: close it while its fibers loop, sleep, are parked or in a blocking call.  They
 * continue.
 * load PLUGIN own: the same for a fiber that runs code of the program.
 * load PLUGIN gone: a fiber with unmapped code is reported.
 * load PLUGIN pair OTHER: two libraries start, use and stop the runtime in two threads. */
#include <dirent.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TIMES 50

static void check(bool ok, const char *what, int round)
{
    if (ok)
        return;
    fprintf(stderr, "round %d: %s\n", round, what);
    exit(1);
}

/* Sanitizers have threads of their own, so only the workers are counted. */
static int workers(void)
{
    DIR *dir = opendir("/proc/self/task");
    int n = 0;

    for (struct dirent *e; dir && (e = readdir(dir)) != NULL;) {
        char path[300], name[32] = "";
        FILE *f;

        snprintf(path, sizeof path, "/proc/self/task/%s/comm", e->d_name);
        f = fopen(path, "r");
        if (f && fgets(name, sizeof name, f))
            n += strncmp(name, "filch-", 6) == 0;
        if (f)
            fclose(f);
    }
    if (dir)
        closedir(dir);
    return n;
}

/* A joined thread may be in /proc for a moment longer. */
static bool workers_end(void)
{
    for (int i = 0; i < 2000; i++) {
        if (workers() == 0)
            return true;
        usleep(1000);
    }
    return false;
}

static void (*yield_of_plugin)(void);

static long call(void *plugin, const char *name, int n)
{
    long (*fn)(int);
    void *symbol = dlsym(plugin, name);

    memcpy(&fn, &symbol, sizeof fn);
    return symbol ? fn(n) : -1;
}

/* Fork handlers must be removed with the library. */
static bool fork_works(void)
{
    pid_t pid = fork();
    int status = -1;

    if (pid == 0)
        _exit(7);
    return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
           WEXITSTATUS(status) == 7;
}

static void load_and_close(const char *path, int round)
{
    void *plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);

    if (!plugin)
        fprintf(stderr, "%s\n", dlerror());
    check(plugin != NULL, "dlopen failed", round);
    for (int i = 0; i < 3; i++)
        check(call(plugin, "plugin_run", 15) == 610, "wrong result", round);
    if (round % 2 == 0)
        check(call(plugin, "plugin_stop", 15) == 610, "plugin_stop failed", round);
    check(fork_works(), "fork() with the library loaded", round);
    check(dlclose(plugin) == 0, "dlclose failed", round);
    if (round % 2 == 0)
        check(workers_end(), "a worker thread is left after the stop", round);
    check(fork_works(), "fork() after the library is closed", round);
}

/* ---- with fibers ---- */

#define COUNTERS 3
#define ENOUGH   100

static atomic_long counters[COUNTERS];

static long call_with(void *plugin, const char *name, void *arg)
{
    long (*fn)(void *);
    void *symbol = dlsym(plugin, name);

    memcpy(&fn, &symbol, sizeof fn);
    return symbol ? fn(arg) : -1;
}

/* Wait until each counter has increased. */
static void await_counting(int n)
{
    for (int i = 0; i < n; i++) {
        long before = atomic_load(&counters[i]);
        while (atomic_load(&counters[i]) < before + ENOUGH)
            usleep(1000);
    }
}

/* It sleeps between the steps, so that code of Filch runs as well. */
static void count(void *unused)
{
    const struct timespec t = {.tv_nsec = 100000};

    (void)unused;
    for (;;) {
        atomic_fetch_add(&counters[0], 1);
        yield_of_plugin();
        nanosleep(&t, NULL);
    }
}

static void *load(const char *path)
{
    void *plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL), *symbol;

    check(plugin != NULL, "dlopen failed", 0);
    symbol = dlsym(plugin, "filch_yield");
    memcpy(&yield_of_plugin, &symbol, sizeof yield_of_plugin);
    return plugin;
}

static void close_and_check_counting(void *plugin, int n)
{
    await_counting(n);
    check(dlclose(plugin) == 0, "dlclose failed", 0);
    await_counting(n);
    check(fork_works(), "fork() after the library is closed", 0);
    await_counting(n);
}

static void live_fibers(const char *path)
{
    void *plugin = load(path);

    check(call_with(plugin, "plugin_leave", counters) == 0, "plugin_leave failed", 0);
    close_and_check_counting(plugin, COUNTERS);
}

static void own_fiber(const char *path)
{
    struct {
        void (*body)(void *arg);
        void *arg;
    } own = {count, NULL};
    void *plugin = load(path);

    check(yield_of_plugin != NULL, "filch_yield not found", 0);
    check(call_with(plugin, "plugin_go", &own) == 0, "no fiber", 0);
    close_and_check_counting(plugin, 1);
}

/* Runs in a child process, which is killed. */
static void lose_code(const char *path, int out)
{
    void *plugin = load(path);

    dup2(out, STDERR_FILENO);
    check(call_with(plugin, "plugin_loop", counters) == 0, "no fiber", 0);
    close_and_check_counting(plugin, 1);
    _exit(0);
}

static void fiber_without_code(const char *path)
{
    char text[4096] = "";
    size_t n = 0;
    int ends[2], status = 0;
    ssize_t r;
    pid_t pid;

    check(pipe(ends) == 0, "pipe failed", 0);
    pid = fork();
    if (pid == 0)
        lose_code(path, ends[1]);
    close(ends[1]);
    while (n < sizeof text - 1 && (r = read(ends[0], text + n, sizeof text - 1 - n)) > 0)
        n += (size_t)r;
    close(ends[0]);
    waitpid(pid, &status, 0);
    if (!strstr(text, "filch: fiber \"filch\" runs code that is not in memory"))
        fprintf(stderr, "status %#x, said: %s\n", (unsigned)status, text);
    check(strstr(text, "filch: fiber \"filch\" runs code that is not in memory") != NULL,
          "no report", 0);
    check(status != 0, "the child exits with 0", 0);
}

/* ---- two libraries ---- */

static void *hold_often(void *plugin)
{
    for (int i = 0; i < 10 * TIMES; i++)
        check(call(plugin, "plugin_hold", 10) == 55, "wrong result", i);
    return NULL;
}

static void pair(const char *path, const char *other)
{
    void *plugins[] = {load(path), load(other)};
    pthread_t threads[2];

    for (int i = 0; i < 2; i++)
        check(pthread_create(&threads[i], NULL, hold_often, plugins[i]) == 0, "no thread", 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    check(workers_end(), "a worker thread is left after the last stop", 0);
}

int main(int argc, char **argv)
{
    if (argc == 4) {
        pair(argv[1], argv[3]);
        return 0;
    }
    if (argc == 3) {
        if (strcmp(argv[2], "live") == 0)
            live_fibers(argv[1]);
        else if (strcmp(argv[2], "own") == 0)
            own_fiber(argv[1]);
        else
            fiber_without_code(argv[1]);
        return 0;
    }
    if (argc != 2)
        return 2;
    for (int i = 0; i < TIMES; i++)
        load_and_close(argv[1], i);
    printf("loaded and closed %s %d times\n", argv[1], TIMES);
    return 0;
}
