/* forks hammer USE [fiber]: fork repeatedly while threads and fibers run a use (uses.h), and do the
 *     same in the children.  "fiber": a fiber forks, and the child continues.
 * forks end WAY WHERE: exit or exec while fibers run */
#include "uses.h"

#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

enum { CHILDREN = 30, THREADS = 3, FIBERS = 3 };

static const use *hammer;
static atomic_bool stop;

static void *hammer_in_thread(void *arg)
{
    while (!stop)
        hammer->run();
    return arg;
}

static void hammer_in_fiber(void *arg)
{
    while (!stop) {
        hammer->run();
        filch_yield();
    }
    filch_wait_group_done(arg);
}

/* Messages of the child are on stderr. */
static void check_child(pid_t child)
{
    int status = 0;

    while (waitpid(child, &status, 0) < 0)
        NEED(errno == EINTR ? 0 : -errno);
    if (WIFSIGNALED(status))
        victim_end(WRONG, __FILE_NAME__, __LINE__, "a child ended by signal", WTERMSIG(status));
    if (WEXITSTATUS(status) != 0)
        victim_end(WRONG, __FILE_NAME__, __LINE__, "a child ended with code", WEXITSTATUS(status));
}

static void fork_from_thread(void)
{
    for (int i = 0; i < CHILDREN; i++) {
        pid_t child = fork();
        NEED(child < 0 ? -errno : 0);
        if (child == 0) {
            alarm(100); /* SIGALRM kills a child that hangs */
            for (int k = 0; k < 3; k++)
                hammer->run();
            NEED(filch_stop());
            _exit(0);
        }
        check_child(child);
        filch_sleep(FILCH_US(i * 20));
    }
}

static int64_t wait_for_child(void *arg)
{
    check_child(*(pid_t *)arg);
    return 0;
}

static void fork_from_fiber(void *arg)
{
    (void)arg;
    for (int i = 0; i < CHILDREN; i++) {
        pid_t child = fork();
        NEED(child < 0 ? -errno : 0);
        if (child == 0) {
            filch_mutex m = {{{0, 0, 0, 0}}, NULL, 0, 0};
            alarm(100);
            filch_mutex_lock(&m);
            filch_mutex_unlock(&m);
            use_fls();
            MUST(filch_now() > 0);
            filch_yield();
            if (i % 2)
                _exit(0);
            return; /* the fiber ends, and so does the child */
        }
        NEED(filch_run_blocking(wait_for_child, &child));
        filch_sleep(FILCH_US(i * 20));
    }
}

static void run_hammer(bool from_fiber)
{
    pthread_t t[THREADS];
    filch_wait_group fibers = {0};

    use_fls(); /* create its key before a hammer takes all keys */
    hammer->run();
    for (int i = 0; i < THREADS; i++)
        NEED(-pthread_create(&t[i], NULL, hammer_in_thread, NULL));
    for (int i = 0; i < FIBERS; i++) {
        filch_wait_group_add(&fibers, 1);
        NEED(filch_go(hammer_in_fiber, &fibers));
    }
    if (from_fiber) {
        filch_group g = FILCH_GROUP_INIT;
        NEED(filch_group_run(&g, fork_from_fiber, NULL));
        NEED(filch_group_wait(&g));
    } else {
        fork_from_thread();
    }
    stop = true;
    for (int i = 0; i < THREADS; i++)
        NEED(-pthread_join(t[i], NULL));
    NEED(filch_wait_group_wait(&fibers));
    NEED(filch_stop());
}

/* ---- exit and exec ---- */

static void busy(void *arg)
{
    (void)arg;
    for (;;) {
        MUST(FILCH_RUN(use_tree, 8) == 256);
        filch_sleep(FILCH_US(50));
    }
}

static void waits(void *arg)
{
    (void)arg;
    filch_sleep(FILCH_S(1000));
}

/* Fibers that compute, sleep and make a blocking call. */
static int64_t sleep_blocking(void *arg)
{
    (void)arg;
    return usleep(1000);
}

static void blocks(void *arg)
{
    (void)arg;
    for (;;)
        NEED(filch_run_blocking(sleep_blocking, NULL));
}

static void start_busy_fibers(void)
{
    for (int i = 0; i < 4; i++) {
        NEED(filch_go(busy, NULL));
        NEED(filch_go(waits, NULL));
        NEED(filch_go(blocks, NULL));
    }
    filch_sleep(FILCH_MS(5));
}

static char *const say_right[] = {(char *)"echo", (char *)"right", NULL};
extern char **environ;

static void do_exit(void *arg)
{
    (void)arg;
    puts("right");
    exit(0);
}

static void do_exec(void *arg)
{
    (void)arg;
    execvp("echo", say_right);
}

static void do_spawn(void *arg)
{
    pid_t child;
    int status = 0;

    (void)arg;
    NEED(-posix_spawnp(&child, "echo", NULL, NULL, say_right, environ));
    NEED(waitpid(child, &status, 0) < 0 ? -errno : 0);
    MUST(status == 0);
    _exit(0);
}

static void do_vfork(void *arg)
{
    (void)arg;
    pid_t child = vfork(); /* NOLINT(clang-analyzer-security.insecureAPI.vfork): to test it */
    if (child == 0) {
        execvp("echo", say_right);
        _exit(1);
    }
    check_child(child);
    _exit(0);
}

static void do_fork_exec(void *arg)
{
    (void)arg;
    pid_t child = fork();
    if (child == 0) {
        execvp("echo", say_right);
        _exit(1);
    }
    check_child(child);
    _exit(0);
}

static void do_fork_exit(void *arg)
{
    (void)arg;
    pid_t child = fork();
    if (child == 0)
        exit(0); /* with all exit handlers, also that of Filch */
    check_child(child);
    puts("right");
    exit(0);
}

static void do_quick_exit(void *arg)
{
    (void)arg;
    puts("right");
    fflush(stdout);
    quick_exit(0);
}

static void do__exit(void *arg)
{
    (void)arg;
    puts("right");
    fflush(stdout);
    _exit(0);
}

static void do_abort(void *arg)
{
    (void)arg;
    fprintf(stderr, "filch: (printed by the program, before its abort)\n");
    abort();
}

static const struct {
    const char *name;
    void (*run)(void *arg);
} ends[] = {
    {"exit", do_exit},
    {"exec", do_exec},
    {"spawn", do_spawn},
    {"vfork", do_vfork},
    {"fork_exec", do_fork_exec},
    {"fork_exit", do_fork_exit},
    {"quick_exit", do_quick_exit},
    {"_exit", do__exit},
    {"abort", do_abort},
};

static void *in_other_thread(void *arg)
{
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
        if (strcmp(ends[i].name, arg) == 0)
            ends[i].run(NULL);
    return arg;
}

static void *in_this_fiber(void *arg)
{
    return in_other_thread(arg);
}

/* WHERE: main, thread, fiber, blocking */
static int64_t on_blocking_thread(void *arg)
{
    in_other_thread(arg);
    return 0;
}

static void *go_to_blocking_thread(void *arg)
{
    NEED(filch_run_blocking(on_blocking_thread, arg));
    return arg;
}

static void end_in(const char *way, const char *where)
{
    pthread_t t;
    void *name = (void *)(uintptr_t)way;

    start_busy_fibers();
    if (strcmp(where, "main") == 0)
        in_other_thread(name);
    else if (strcmp(where, "thread") == 0)
        NEED(-pthread_create(&t, NULL, in_other_thread, name));
    else if (strcmp(where, "fiber") == 0)
        NEED_PTR(filch_fiber_start(in_this_fiber, name));
    else
        NEED_PTR(filch_fiber_start(go_to_blocking_thread, name));
    for (;;)
        pause();
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "list") == 0) {
        for (size_t i = 0; i < USES; i++)
            if (uses[i].run != use_ends)
                printf("hammer %s\n", uses[i].name);
        for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
            printf("end %s\n", ends[i].name);
        return 0;
    }
    if (argc == 4 && strcmp(argv[1], "end") == 0)
        end_in(argv[2], argv[3]);
    if (argc < 3 || strcmp(argv[1], "hammer") != 0) {
        fprintf(stderr,
                "usage: forks hammer USE [fiber] | end WAY main|thread|fiber|blocking | list\n");
        return 2;
    }
    hammer = use_called(argv[2]);
    run_hammer(argc > 3);
    puts("right");
    return 0;
}
