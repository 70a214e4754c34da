/* load PLUGIN: load a library that uses Filch, run tasks in it, close it, fifty times over, with the
 * runtime stopped before or left running.  Where it was stopped, no thread of it is left.
 *
 * load PLUGIN live: close it while its fibers loop, sleep, are parked and in a blocking call.  They go on.
 * load PLUGIN own: the same for a fiber that runs code of the program.
 * load PLUGIN gone: a fiber whose code is unmapped is named. */
#include <dirent.h>
#include <dlfcn.h>
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

/* A thread that was joined may stand in /proc for a moment longer. */
static bool workers_go(void)
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

/* What was registered for fork() must be gone with the library. */
static bool forks_well(void)
{
    pid_t pid = fork();
    int status = -1;

    if (pid == 0)
        _exit(7);
    return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
           WEXITSTATUS(status) == 7;
}

static void one_life(const char *path, int round)
{
    void *plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);

    if (!plugin)
        fprintf(stderr, "%s\n", dlerror());
    check(plugin != NULL, "the library does not load", round);
    for (int i = 0; i < 3; i++)
        check(call(plugin, "plugin_run", 15) == 610, "a wrong result", round);
    if (round % 2 == 0)
        check(call(plugin, "plugin_stop", 15) == 610, "no stop", round);
    check(forks_well(), "fork() with the library loaded", round);
    check(dlclose(plugin) == 0, "the library does not close", round);
    if (round % 2 == 0)
        check(workers_go(), "a worker is left of a runtime that was stopped", round);
    check(forks_well(), "fork() after the library is closed", round);
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

/* From now on, not only once. */
static void await_counting(int n)
{
    for (int i = 0; i < n; i++) {
        long before = atomic_load(&counters[i]);
        while (atomic_load(&counters[i]) < before + ENOUGH)
            usleep(1000);
    }
}

/* It waits between its steps, so that code of Filch runs as well. */
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

    check(plugin != NULL, "the library does not load", 0);
    symbol = dlsym(plugin, "filch_yield");
    memcpy(&yield_of_plugin, &symbol, sizeof yield_of_plugin);
    return plugin;
}

static void close_and_go_on(void *plugin, int n)
{
    await_counting(n);
    check(dlclose(plugin) == 0, "the library does not close", 0);
    await_counting(n);
    check(forks_well(), "fork() after the library is closed", 0);
    await_counting(n);
}

static void live_fibers(const char *path)
{
    void *plugin = load(path);

    check(call_with(plugin, "plugin_leave", counters) == 0, "no fibers", 0);
    close_and_go_on(plugin, COUNTERS);
}

static void own_fiber(const char *path)
{
    struct {
        void (*body)(void *arg);
        void *arg;
    } own = {count, NULL};
    void *plugin = load(path);

    check(yield_of_plugin != NULL, "no filch_yield", 0);
    check(call_with(plugin, "plugin_go", &own) == 0, "no fiber", 0);
    close_and_go_on(plugin, 1);
}

/* In a child: it dies. */
static void lose_code(const char *path, int out)
{
    void *plugin = load(path);

    dup2(out, STDERR_FILENO);
    check(call_with(plugin, "plugin_loop", counters) == 0, "no fiber", 0);
    close_and_go_on(plugin, 1);
    _exit(0);
}

static void fiber_without_code(const char *path)
{
    char text[4096] = "";
    size_t n = 0;
    int ends[2], status = 0;
    ssize_t r;
    pid_t pid;

    check(pipe(ends) == 0, "no pipe", 0);
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
    check(strstr(text, "filch: fiber \"filch\" runs code that is not in memory") != NULL, "no line",
          0);
    check(status != 0, "it ends well", 0);
}

int main(int argc, char **argv)
{
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
        one_life(argv[1], i);
    printf("%d lives of %s\n", TIMES, argv[1]);
    return 0;
}
