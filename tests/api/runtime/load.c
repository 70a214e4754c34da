/* load PLUGIN: load a library that uses Filch, run tasks in it, unload it, fifty times over, with the
 * runtime stopped before or left running.  Afterwards no thread of it and no handler may be left, as
 * their code is gone. */
#include <dirent.h>
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
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
    check(dlclose(plugin) == 0, "the library does not unload", round);
    check(workers_go(), "a worker is left whose code is gone", round);
    check(forks_well(), "fork() after the library is gone", round);
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    for (int i = 0; i < TIMES; i++)
        one_life(argv[1], i);
    printf("%d lives of %s\n", TIMES, argv[1]);
    return 0;
}
