/* victim PART...: small programs that use every part of Filch and check their results.  The driver
 * runs them with restrictions; see README.md. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* pipe2 */
#endif
#include "victim.h"

#include <filch/filch.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>

/* ---- tasks ---- */

FILCH_TASK(long, fib, int, n)
{
    if (n < 2)
        return n;
    FILCH_SPAWN(fib, n - 1);
    long b = FILCH_CALL(fib, n - 2);
    return FILCH_SYNC(fib) + b;
}

static void tasks(void)
{
    MUST(FILCH_RUN(fib, 20) == 6765);
    for (int i = 0; i < 20; i++)
        MUST(FILCH_RUN(fib, 10) == 55);
}

/* ---- groups and jobs ---- */

static atomic_int sum;

static void add_one(void *arg)
{
    (void)arg;
    sum++;
}

static int fail_with(void *arg)
{
    return (int)(intptr_t)arg;
}

static void jobs(void)
{
    filch_group g = FILCH_GROUP_INIT;

    sum = 0;
    for (int i = 0; i < 300; i++)
        NEED(filch_group_run(&g, add_one, NULL));
    NEED(filch_group_wait(&g));
    MUST(sum == 300);
    NEED(filch_group_run_fallible(&g, fail_with, (void *)(intptr_t)-EXDEV));
    MUST(filch_group_wait(&g) == -EXDEV);
    for (int i = 0; i < 20; i++) {
        filch_job *first = filch_job_new(add_one, NULL), *second = filch_job_new(add_one, NULL);
        NEED_PTR(first);
        NEED_PTR(second);
        NEED(filch_job_after(second, first));
        NEED(filch_job_submit(second));
        NEED(filch_job_submit(first));
        filch_job_release(first);
        NEED(filch_job_wait(second));
    }
    MUST(sum == 340);
}

/* ---- fibers and locks ---- */

static filch_mutex mutex;
static filch_cond cond;
static filch_rwlock rwlock;
static filch_barrier barrier;
static int turns;

static void *lock_and_count(void *arg)
{
    filch_rwlock_rdlock(&rwlock);
    filch_rwlock_rdunlock(&rwlock);
    filch_mutex_lock(&mutex);
    turns++;
    filch_cond_broadcast(&cond);
    filch_mutex_unlock(&mutex);
    filch_yield();
    return arg;
}

static void *meet(void *arg)
{
    return (void *)(intptr_t)(filch_barrier_wait(&barrier, 4) + (arg == NULL));
}

static void fibers(void)
{
    filch_fiber *f[64];
    void *result;

    turns = 0;
    for (int i = 0; i < 64; i++) {
        f[i] = filch_fiber_start(lock_and_count, &f[i]);
        NEED_PTR(f[i]);
    }
    filch_mutex_lock(&mutex);
    while (turns < 64)
        NEED(filch_cond_wait(&cond, &mutex));
    filch_mutex_unlock(&mutex);
    for (int i = 0; i < 64; i++) {
        NEED(filch_fiber_join(f[i], &result));
        MUST(result == &f[i]);
    }
}

/* Four fibers with stacks at the same time. */
static void barriers(void)
{
    filch_fiber *f[4];
    void *result;
    int leaders = 0;

    for (int i = 0; i < 4; i++) {
        f[i] = filch_fiber_start(meet, &f[i]);
        NEED_PTR(f[i]);
    }
    for (int i = 0; i < 4; i++) {
        NEED(filch_fiber_join(f[i], &result));
        leaders += (int)(intptr_t)result;
    }
    MUST(leaders == 1);
}

/* Stacks of a gigabyte, until there is no memory. */
static void big_stacks(void)
{
    const filch_fiber_attr big = {.name = "big", .stack_size = (size_t)1 << 30};
    filch_fiber *f[8];
    int n = 0;

    for (; n < 8; n++)
        if (!(f[n] = filch_fiber_start_attr(&big, lock_and_count, &f[n])))
            break;
    for (int i = 0; i < n; i++)
        NEED(filch_fiber_join(f[i], NULL));
    MUST(FILCH_RUN(fib, 15) == 610);
}

/* ---- channels ---- */

static filch_chan *numbers, *words;

static void send_numbers(void *arg)
{
    for (int i = 1; i <= 100; i++)
        NEED(filch_chan_send(arg, &i));
    NEED(filch_chan_close(arg));
}

static void chans(void)
{
    int a = 0, b = 0, total = 0, open = 2;

    numbers = filch_chan_new(sizeof(int), 0);
    words = filch_chan_new(sizeof(int), 8);
    NEED_PTR(numbers);
    NEED_PTR(words);
    NEED(filch_go(send_numbers, numbers));
    NEED(filch_go(send_numbers, words));
    filch_case from[] = {FILCH_CASE_RECV(numbers, &a), FILCH_CASE_RECV(words, &b)};
    while (open > 0) {
        long long i = NEED(filch_select(from, 2));
        if (from[i].result == 0)
            total += i == 0 ? a : b;
        else
            from[i].chan = NULL, open--;
    }
    MUST(total == 10100);
    filch_chan_free(numbers);
    filch_chan_free(words);
}

/* ---- timers ---- */

/* A call that must time out, unless it fails with another error. */
static void times_out(long long result)
{
    if (result != -ETIMEDOUT)
        NEED(result);
    MUST(result == -ETIMEDOUT);
}

static filch_wait_group fired;

static void fire(void *arg)
{
    (void)arg;
    filch_wait_group_done(&fired);
}

static void timers(void)
{
    static filch_timer soon[16], late;
    filch_sem never = {0};
    int64_t begin = filch_now();

    filch_wait_group_add(&fired, 16);
    for (int i = 0; i < 16; i++)
        NEED(filch_timer_start(&soon[i], begin + FILCH_US(200 * i), fire, NULL));
    NEED(filch_timer_start(&late, FILCH_FOREVER, fire, NULL));
    NEED(filch_sleep(FILCH_MS(1)));
    NEED(filch_wait_group_wait(&fired));
    MUST(filch_timer_stop(&late) == 1);
    for (int i = 0; i < 16; i++)
        MUST(filch_timer_stop(&soon[i]) == 0);
    times_out(filch_sem_wait_until(&never, filch_now() + FILCH_MS(1)));
}

/* ---- sockets ---- */

static void echo(void *arg)
{
    int fd = (int)(intptr_t)arg;
    char buf[512];

    for (ssize_t n; (n = (ssize_t)NEED(filch_read(fd, buf, sizeof buf))) > 0;)
        NEED(filch_write_all(fd, buf, (size_t)n));
    NEED(filch_close(fd));
}

static void serve(void *arg)
{
    int listener = (int)(intptr_t)arg;

    for (int i = 0; i < 4; i++) {
        long long fd = NEED(filch_accept_until(listener, filch_now() + FILCH_S(600)));
        NEED(filch_go(echo, (void *)(intptr_t)fd));
    }
    NEED(filch_close(listener));
}

static void *ask(void *arg)
{
    char out[300], in[300];
    int fd =
        (int)NEED(filch_connect_until("127.0.0.1", (int)(intptr_t)arg, filch_now() + FILCH_S(600)));

    for (int i = 0; i < 10; i++) {
        memset(out, 'a' + i, sizeof out);
        NEED(filch_write_all_until(fd, out, sizeof out, filch_now() + FILCH_S(600)));
        MUST(NEED(filch_read_all_until(fd, in, sizeof in, filch_now() + FILCH_S(600))) ==
             sizeof in);
        MUST(memcmp(in, out, sizeof in) == 0);
    }
    times_out(filch_read_until(fd, in, 1, filch_now() + FILCH_MS(1)));
    NEED(filch_close(fd));
    return NULL;
}

static void sockets(void)
{
    filch_fiber *f[4];
    int listener = (int)NEED(filch_listen("127.0.0.1", 0, 16)), pair[2];
    int port = (int)NEED(filch_local_port(listener));
    char c = 0;

    NEED(filch_go(serve, (void *)(intptr_t)listener));
    for (int i = 0; i < 4; i++) {
        f[i] = filch_fiber_start(ask, (void *)(intptr_t)port);
        NEED_PTR(f[i]);
    }
    for (int i = 0; i < 4; i++)
        NEED(filch_fiber_join(f[i], NULL));
    NEED(filch_pipe(pair));
    times_out(filch_wait_fd_until(pair[0], FILCH_READABLE, filch_now() + FILCH_MS(1)));
    MUST(NEED(filch_write(pair[1], "x", 1)) == 1);
    MUST(NEED(filch_read(pair[0], &c, 1)) == 1 && c == 'x');
    NEED(filch_close(pair[0]));
    NEED(filch_close(pair[1]));
}

static void *sockets_of_fiber(void *arg)
{
    sockets();
    return arg;
}

static void sockets_in_fiber(void)
{
    filch_fiber *f = filch_fiber_start(sockets_of_fiber, NULL);

    NEED_PTR(f);
    NEED(filch_fiber_join(f, NULL));
}

/* ---- calls that block, and files ---- */

static int64_t write_file(void *arg)
{
    (void)arg;
    /* Without a name, so that no file is left behind. */
    int fd = open(".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    return fd >= 0 ? fd : -errno;
}

static void *use_files(void *arg)
{
    char text[] = "0123456789", back[10];
    int fd = (int)NEED(filch_run_blocking(write_file, NULL)), pair[2];
    off_t from = 0;

    (void)arg;
    MUST(NEED(filch_write_all(fd, text, 10)) == 10);
    MUST(lseek(fd, 0, SEEK_SET) == 0);
    MUST(NEED(filch_read_all(fd, back, 10)) == 10 && memcmp(text, back, 10) == 0);
    NEED(filch_socketpair(pair));
    MUST(NEED(filch_sendfile(pair[0], fd, &from, 10)) == 10);
    MUST(NEED(filch_read_all(pair[1], back, 10)) == 10 && memcmp(text, back, 10) == 0);
    NEED(filch_close(pair[0]));
    NEED(filch_close(pair[1]));
    NEED(filch_close(fd));
    return NULL;
}

/* O_DIRECT where the file system has it, because data in memory is read at once. */
static void read_direct(const char *path)
{
    static _Alignas(4096) char block[4096];
    int fd = filch_open(path, O_RDONLY | O_DIRECT, 0);

    if (fd < 0)
        return;
    MUST(NEED(filch_pread(fd, block, sizeof block, 0)) == sizeof block && block[4095] == 'z');
    NEED(filch_close(fd));
}

/* The open file keeps its data when the name is gone. */
static void *use_named_file(void *arg)
{
    char path[64], block[4096], back[4096];
    struct stat st;
    int fd;

    snprintf(path, sizeof path, "victim-%d", (int)getpid());
    memset(block, 'z', sizeof block);
    fd = (int)NEED(filch_open(path, O_RDWR | O_CREAT | O_EXCL, 0600));
    MUST(NEED(filch_pwrite(fd, block, sizeof block, 0)) == sizeof block);
    NEED(filch_fsync(fd));
    NEED(filch_stat(path, &st));
    MUST(st.st_size == sizeof block);
    read_direct(path);
    (void)unlink(path);
    posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    MUST(NEED(filch_pread(fd, back, sizeof back, 0)) == sizeof back);
    MUST(memcmp(block, back, sizeof back) == 0);
    NEED(filch_fstat(fd, &st));
    NEED(filch_close(fd));
    return arg;
}

static void on_fiber(void *(*body)(void *))
{
    filch_fiber *f = filch_fiber_start(body, NULL);

    NEED_PTR(f);
    NEED(filch_fiber_join(f, NULL));
}

static void files(void)
{
    on_fiber(use_named_file);
}

/* ---- processes and signals ---- */

static void *wait_for_process(void *arg)
{
    int status = -1;
    pid_t parent = getpid(), pid = (pid_t)NEED(fork());

    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* a call that fails below ends the program */
        if (getppid() == parent)
            pause();
        _exit(1);
    }
    times_out(filch_waitpid_until(pid, &status, 0, filch_now() + FILCH_MS(1)));
    kill(pid, SIGKILL);
    MUST(NEED(filch_waitpid(pid, &status, 0)) == pid);
    MUST(WIFSIGNALED(status));
    return arg;
}

static void processes(void)
{
    on_fiber(wait_for_process);
}

static void *wait_for_signal(void *arg)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    times_out(filch_signal_wait(&set, filch_now() + FILCH_MS(1)));
    NEED(kill(getpid(), SIGUSR1) == 0 ? 0 : -errno);
    MUST(NEED(filch_signal_wait(&set, filch_now() + FILCH_S(600))) == SIGUSR1);
    return arg;
}

static void signals(void)
{
    on_fiber(wait_for_signal);
}

/* ---- calls that block ---- */

static int64_t add_in_thread(void *arg)
{
    return ++*(atomic_int *)arg;
}

static void *block(void *arg)
{
    NEED(filch_run_blocking(add_in_thread, arg));
    return NULL;
}

static void blocking(void)
{
    atomic_int calls = 0;
    filch_fiber *f[8], *files = filch_fiber_start(use_files, NULL);

    NEED_PTR(files);
    for (int i = 0; i < 8; i++) {
        f[i] = filch_fiber_start(block, &calls);
        NEED_PTR(f[i]);
    }
    for (int i = 0; i < 8; i++)
        NEED(filch_fiber_join(f[i], NULL));
    NEED(filch_fiber_join(files, NULL));
    MUST(calls == 8);
}

/* ---- algorithms ---- */

static void square(size_t lo, size_t hi, void *ctx)
{
    for (size_t i = lo; i < hi; i++)
        ((long *)ctx)[i] = (long)(i * i);
}

static void add_up(size_t lo, size_t hi, void *acc, void *ctx)
{
    for (size_t i = lo; i < hi; i++)
        *(long *)acc += ((long *)ctx)[i];
}

static void add_both(void *acc, const void *other, void *ctx)
{
    (void)ctx;
    *(long *)acc += *(const long *)other;
}

static void algo(void)
{
    static long v[5000];
    long total = 0, zero = 0;

    filch_for(0, 5000, 0, square, v);
    NEED(filch_reduce(0, 5000, 0, &total, &zero, sizeof total, add_up, add_both, v));
    MUST(total == 41654167500);
    for (int i = 0; i < 5000; i++)
        v[i] = (i * 7919) % 5000;
    NEED(filch_sort(v, 5000, sizeof v[0], filch_compare_long, NULL));
    for (int i = 0; i < 5000; i++)
        MUST(v[i] == i);
}

/* ---- threads that are not workers ---- */

static void *use_from_thread(void *arg)
{
    tasks();
    fibers();
    return arg;
}

/* One part after the other, because `fibers` may not run twice at once. */
static void threads(void)
{
    pthread_t t;

    NEED(-pthread_create(&t, NULL, use_from_thread, NULL));
    NEED(-pthread_join(t, NULL));
}

/* ---- start, stop, dump ---- */

static void restart(void)
{
    NEED(filch_stop());
    for (int i = 0; i < 3; i++) {
        NEED(filch_start(NULL));
        MUST(FILCH_RUN(fib, 12) == 144);
        NEED(filch_stop());
    }
}

static void look(void)
{
    filch_stats s;
    int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);

    NEED(filch_stop());
    NEED(filch_start(NULL));
    NEED(filch_stats_get(&s));
    MUST(s.workers == filch_worker_count() && filch_cpu_count() > 0);
    if (fd >= 0) {
        NEED(filch_dump(fd));
        close(fd);
    }
}

static void forks(void)
{
    int status = 0;

    MUST(FILCH_RUN(fib, 15) == 610);
    pid_t child = fork();
    NEED(child < 0 ? -errno : 0);
    if (child == 0) {
        MUST(FILCH_RUN(fib, 15) == 610);
        NEED(filch_stop());
        _exit(0);
    }
    NEED(waitpid(child, &status, 0) < 0 ? -errno : 0);
    if (WIFSIGNALED(status) ? WTERMSIG(status) == SIGABRT : WEXITSTATUS(status) == REFUSED)
        _exit(REFUSED); /* it has printed the reason */
    MUST(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    MUST(FILCH_RUN(fib, 15) == 610);
}

/* ---- the command ---- */

static const struct part {
    const char *name;
    void (*run)(void);
} parts[] = {
    {"tasks", tasks},       {"jobs", jobs},
    {"fibers", fibers},     {"barriers", barriers},
    {"chans", chans},       {"timers", timers},
    {"sockets", sockets},   {"sockets_in_fiber", sockets_in_fiber},
    {"blocking", blocking}, {"algo", algo},
    {"files", files},       {"processes", processes},
    {"signals", signals},   {"threads", threads},
    {"forks", forks},       {"restart", restart},
    {"look", look},         {"big_stacks", big_stacks},
};

static void run(const char *name)
{
    bool all = strcmp(name, "all") == 0, found = all;

    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (all || strcmp(name, parts[i].name) == 0)
            parts[i].run(), found = true;
    if (!found) {
        fprintf(stderr, "victim: unknown part '%s'\n", name);
        exit(2);
    }
}

int main(int argc, char **argv)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, NULL); /* before the runtime starts */
    for (int i = 1; i < argc; i++)
        run(argv[i]);
    NEED(filch_stop());
    puts("right");
    /* A write error of stdout is reported. */
    NEED(fflush(stdout) == 0 ? 0 : -errno);
    return 0;
}
