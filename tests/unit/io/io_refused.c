/* Optional system calls are refused with each error that containers and old kernels use.
 * Everything works without them.  The filter must be set before the program starts, so this
 * program executes itself with it. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "refuse.h"
#include "unit/io/helpers.h"

#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>

/* Newer than some headers.  These numbers are the same on all architectures. */
#ifndef SYS_epoll_pwait2
#define SYS_epoll_pwait2 441
#endif
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

/* ---- a program that uses optional system calls ---- */

static void *read_late(void *arg)
{
    char c;

    return (void *)(intptr_t)filch_read_until((int)(intptr_t)arg, &c, 1, filch_now() + FILCH_MS(3));
}

static void *echo(void *arg)
{
    int fd = filch_accept((int)(intptr_t)arg);
    char c = 0;

    CHECK(fd >= 0);
    CHECK_INT(filch_read(fd, &c, 1), 1);
    CHECK_INT(filch_write_all(fd, &c, 1), 1);
    CHECK_INT(filch_close(fd), 0);
    return NULL;
}

/* A timed wait for a socket, a connection, and descriptors that Filch did not open. */
static void *use_io(void *arg)
{
    int s = filch_listen("127.0.0.1", 0, 1), pair[2], plain[2], fd;
    filch_fiber *server;
    char c = 'x';

    (void)arg;
    CHECK(s >= 0);
    CHECK_INT(filch_socketpair(pair), 0);
    CHECK_INT((intptr_t)read_late((void *)(intptr_t)pair[0]), -ETIMEDOUT);
    server = filch_fiber_start(echo, (void *)(intptr_t)s);
    fd = filch_connect_until("127.0.0.1", filch_local_port(s), filch_now() + FILCH_S(60));
    CHECK(fd >= 0);
    CHECK_INT(filch_write(fd, &c, 1), 1);
    CHECK_INT(filch_read_until(fd, &c, 1, filch_now() + FILCH_S(60)), 1);
    CHECK_INT(filch_fiber_join(server, NULL), 0);
    CHECK_INT(pipe(plain), 0);
    CHECK_INT((intptr_t)read_late((void *)(intptr_t)plain[0]), -ETIMEDOUT);
    CHECK_INT(filch_write(plain[1], &c, 1), 1);
    CHECK_INT(filch_read(plain[0], &c, 1), 1);
    for (int i = 0; i < 2; i++) {
        CHECK_INT(filch_close(plain[i]), 0);
        CHECK_INT(filch_close(pair[i]), 0);
    }
    CHECK_INT(filch_close(fd), 0);
    CHECK_INT(filch_close(s), 0);
    return NULL;
}

/* A child that ends while a fiber waits for it, and a signal that comes meanwhile. */
static void *wait_for_signal(void *arg)
{
    sigset_t set;

    (void)arg;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    return (void *)(intptr_t)filch_signal_wait(&set, filch_now() + FILCH_S(60));
}

static void *use_processes(void *arg)
{
    pid_t child = fork();
    filch_fiber *f;
    void *number;
    int status;

    (void)arg;
    if (child == 0)
        for (;;)
            pause();
    CHECK_INT(filch_waitpid_until(child, NULL, 0, filch_now() + FILCH_MS(3)), -ETIMEDOUT);
    CHECK_INT(kill(child, SIGKILL), 0);
    CHECK_INT(filch_waitpid(child, &status, 0), child);
    CHECK_INT(WTERMSIG(status), SIGKILL);
    f = filch_fiber_start(wait_for_signal, NULL);
    CHECK_INT(filch_sleep(FILCH_MS(1)), 0);
    CHECK_INT(kill(getpid(), SIGUSR1), 0);
    CHECK_INT(filch_fiber_join(f, &number), 0);
    CHECK_INT((intptr_t)number, SIGUSR1);
    return NULL;
}

FILCH_TASK(long, sum, long, from, long, to)
{
    long middle = from + (to - from) / 2, left;

    if (to - from < 64)
        return to - from;
    FILCH_SPAWN(sum, from, middle);
    left = FILCH_CALL(sum, middle, to);
    return left + FILCH_SYNC(sum);
}

/* More fibers at once than there are cached stacks. */
static void *sleep_briefly(void *arg)
{
    filch_sleep(FILCH_MS(1));
    return arg;
}

static void use_fibers(void)
{
    enum { FIBERS = 300 };
    filch_fiber *f[FIBERS];

    for (int i = 0; i < FIBERS; i++)
        CHECK((f[i] = filch_fiber_start(sleep_briefly, NULL)) != NULL);
    for (int i = 0; i < FIBERS; i++)
        CHECK_INT(filch_fiber_join(f[i], NULL), 0);
}

static int use_all(void)
{
    filch_config c = {.workers = 4, .affinity = FILCH_AFFINITY_CPU};
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    CHECK_INT(filch_start(&c), 0);
    CHECK_INT(FILCH_RUN(sum, 0, 100000), 100000);
    on_fiber(use_io, NULL);
    in_thread(use_io, NULL);
    on_fiber(use_processes, NULL);
    in_thread(use_processes, NULL);
    use_fibers();
    CHECK_INT(filch_stop(), 0);
    return 0;
}

/* ---- with a filter ---- */

enum { NO_FILTER = 77 };

static int run_without(unsigned call, int error)
{
    char *const argv[] = {(char *)"io_refused", (char *)"use_all", NULL};
    int status;
    pid_t child = fork();

    CHECK(child >= 0);
    if (child == 0) {
        if (refuse_call(call, (unsigned)error))
            execv("/proc/self/exe", argv);
        _exit(NO_FILTER);
    }
    CHECK_INT(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static const struct {
    unsigned call;
    const char *name;
    bool sanitizers_need_it;
} optional[] = {
    {SYS_epoll_pwait2, "epoll_pwait2", false},
    {SYS_membarrier, "membarrier", false},
    {SYS_memfd_create, "memfd_create", false},
    {SYS_madvise, "madvise", true},
    {SYS_process_madvise, "process_madvise", false},
    {SYS_sched_getaffinity, "sched_getaffinity", true},
    {SYS_sched_setaffinity, "sched_setaffinity", false},
    {SYS_preadv2, "preadv2", false},
    {SYS_pwritev2, "pwritev2", false},
    {SYS_prctl, "prctl", false},
    {SYS_statx, "statx", false},
    {SYS_pidfd_open, "pidfd_open", false},
    {SYS_signalfd4, "signalfd4", false},
};

int main(int argc, char **argv)
{
    static const int errors[] = {EPERM, ENOSYS, EINVAL, EOPNOTSUPP};
    int failed = 0;

    if (argc > 1 && strcmp(argv[1], "use_all") == 0)
        return use_all();
#ifdef FILCH_EMULATED
    puts("skipped: the emulator makes other system calls");
    return 77;
#endif
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (size_t i = 0; i < sizeof optional / sizeof optional[0]; i++)
        for (size_t j = 0; j < sizeof errors / sizeof errors[0]; j++) {
            int e;
            if (optional[i].sanitizers_need_it && (FI_UNDER_ASAN || FI_UNDER_TSAN))
                continue;
            e = run_without(optional[i].call, errors[j]);
            if (e == NO_FILTER) {
                puts("skipped: seccomp filters are not available");
                return 77;
            }
            if (e != 0)
                printf("%s refused with %s: status %d\n", optional[i].name, strerror(errors[j]), e);
            failed += e != 0;
        }
    return failed > 0;
}
