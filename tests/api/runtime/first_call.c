/* first_call [list]: call each public function first in a fresh process, once with a runtime that
 * can start, and once with a system that refuses threads.  The process must exit with 0: no call
 * aborts, and no call hangs.  Without a runtime, tasks, loops, sorts and groups give right results
 * on the calling thread, and the other calls return their error.
 *
 * list prints the names, which first_call_test.sh compares with the headers. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "refuse.h"

#include <filch/filch.h>

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define SECONDS_MAX 60
#define N           1000

static bool has_threads;

#define MUST(condition)                                                                            \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s\n", __func__, __LINE__, #condition);                        \
            _exit(1);                                                                              \
        }                                                                                          \
    } while (0)
/* The call works with a runtime, and fails without one. */
#define WORKS(condition) MUST((condition) == has_threads)

/* ---- what the calls run ---- */

FILCH_TASK(long, fib, int, n)
{
    if (n < 2)
        return n;
    FILCH_SPAWN(fib, n - 1);
    long b = FILCH_CALL(fib, n - 2);
    long a = FILCH_SYNC(fib);
    return a + b;
}

static void nothing(void *arg)
{
    (void)arg;
}

static void visit_nothing(void *object, void *ctx)
{
    (void)object, (void)ctx;
}

static void *same(void *arg)
{
    return arg;
}

static int64_t seven(void *arg)
{
    (void)arg;
    return 7;
}

static int fails(void *arg)
{
    (void)arg;
    return -EIO;
}

static int main_fiber(int argc, char **argv)
{
    (void)argv;
    return argc;
}

static void add_one(void *n)
{
    __atomic_add_fetch((int *)n, 1, __ATOMIC_RELAXED);
}

/* Also runs a task in the loop. */
static void fill(size_t lo, size_t hi, void *array)
{
    for (size_t i = lo; i < hi; i++)
        ((long *)array)[i] = (long)i + FILCH_RUN(fib, 3);
}

static int fill_or_fail(size_t lo, size_t hi, void *array)
{
    fill(lo, hi, array);
    return hi > N / 2 ? -EIO : 0;
}

static void count_tile(const filch_tile *t, void *n)
{
    __atomic_add_fetch((size_t *)n, (t->row_hi - t->row_lo) * (t->column_hi - t->column_lo),
                       __ATOMIC_RELAXED);
}

static void sum_range(size_t lo, size_t hi, void *acc, void *ctx)
{
    (void)ctx;
    for (size_t i = lo; i < hi; i++)
        *(long *)acc += (long)i;
}

static int sum_or_fail(size_t lo, size_t hi, void *acc, void *ctx)
{
    sum_range(lo, hi, acc, ctx);
    return 0;
}

static void add_sums(void *acc, const void *other, void *ctx)
{
    (void)ctx;
    *(long *)acc += *(const long *)other;
}

static void write_sums(size_t lo, size_t hi, void *acc, void *array)
{
    for (size_t i = lo; i < hi; i++)
        ((long *)array)[i] = *(long *)acc += (long)i;
}

static void *next_item(void *item, void *n)
{
    (void)item;
    return ++*(int *)n <= 100 ? n : NULL;
}

static void *count_item(void *item, void *n)
{
    add_one(n);
    return item;
}

static int next_fallible(void **item, void *n)
{
    *item = next_item(NULL, n);
    return 0;
}

static int count_fallible(void **item, void *n)
{
    (void)item;
    add_one(n);
    return 0;
}

static long array[N];

static void check_filled(void)
{
    for (size_t i = 0; i < N; i++)
        MUST(array[i] == (long)i + 2);
}

static void sort_with(int (*sort)(void *, size_t, size_t,
                                  int (*)(const void *, const void *, void *), void *))
{
    for (long i = 0; i < N; i++)
        array[i] = i * 617 % N;
    MUST(sort(array, N, sizeof *array, filch_compare_long, NULL) == 0);
    for (long i = 0; i < N; i++)
        MUST(array[i] == i);
}

static filch_mutex mutex;
static filch_rwlock rwlock;
static filch_cond cond;
static filch_sem sem = FILCH_SEM_INIT(2);
static filch_event event;
static filch_wait_group wait_group;
static filch_once once;
static filch_barrier barrier;
static filch_group group;
static filch_pump pump;
static filch_strand strand;
static filch_timer timer;
static filch_ticker ticker;
static char bytes[8];
static struct iovec vector = {bytes, sizeof bytes};
static struct msghdr header;
static struct stat status;
static struct sockaddr_storage address;
static unsigned address_size = sizeof address;

static struct sockaddr *any_address(void)
{
    return (struct sockaddr *)(void *)&address;
}

static filch_job *new_job(void)
{
    filch_job *j = filch_job_new(nothing, NULL);

    WORKS(j != NULL);
    return j;
}

static void end_job(filch_job *j)
{
    if (j) {
        filch_job_submit(j);
        MUST(filch_job_wait(j) == 0);
    }
}

static filch_fiber *new_fiber(void)
{
    filch_fiber *f = filch_fiber_start(same, NULL);

    WORKS(f != NULL);
    return f;
}

static void with_chan(int (*call)(filch_chan *c, void *item))
{
    filch_chan *c = filch_chan_new(sizeof(int), 1);
    int item = 5;

    MUST(c && filch_chan_try_send(c, &item) == 0);
    MUST(call(c, &item) == 0 && item == 5);
    filch_chan_free(c);
}

static int select_from(filch_chan *c, int (*call)(filch_case *cases, size_t n))
{
    int item;
    filch_case cases[] = {FILCH_CASE_RECV(c, &item)};

    return call(cases, 1);
}

static int select_forever(filch_chan *c, void *item)
{
    (void)item;
    return select_from(c, filch_select);
}

static int select_now(filch_chan *c, void *item)
{
    (void)item;
    return select_from(c, filch_try_select);
}

/* ---- the cases ---- */

#define CASE(name, ...)                                                                            \
    static void first_##name(void)                                                                 \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }
#include "first_call_cases.inc"
#undef CASE

static const struct {
    const char *name;
    void (*call)(void);
} cases[] = {
#define CASE(name, ...) {#name, first_##name},
#include "first_call_cases.inc"
#undef CASE
};

/* The search for leaks at an exit() needs a thread. */
static _Noreturn void end_case(bool refused)
{
#ifdef __SANITIZE_ADDRESS__
    if (refused)
        _exit(0);
#endif
    (void)refused;
    exit(0);
}

/* Once more, because the second call must not depend on the first one. */
static _Noreturn void run_case(size_t i, bool refused)
{
    alarm(SECONDS_MAX);
    has_threads = !refused;
    if (refused && !(refuse_call(SYS_clone3, EPERM) && refuse_call(SYS_clone, EPERM)))
        _exit(77);
    cases[i].call();
    MUST(FILCH_RUN(fib, 12) == 144);
    MUST((filch_worker_count() > 0) == has_threads);
    MUST(filch_stop() >= 0);
    end_case(refused);
}

static int status_of(size_t i, bool refused)
{
    int s = -1;
    pid_t child;

    fflush(NULL);
    child = fork();
    if (child == 0)
        run_case(i, refused);
    return child > 0 && waitpid(child, &s, 0) == child ? s : -1;
}

int main(int argc, char **argv)
{
    size_t n = sizeof cases / sizeof *cases, wrong = 0;

    for (size_t i = 0; i < n && argc > 1 && strcmp(argv[1], "list") == 0; i++)
        puts(cases[i].name);
    for (size_t i = 0; i < 2 * n && argc == 1; i++) {
        int s = status_of(i / 2, i % 2);
        if (WIFEXITED(s) && WEXITSTATUS(s) == 77) {
            puts("skipped: the kernel does not support filters");
            return 77;
        }
        if (s != 0)
            fprintf(stderr, "%s %s threads: status %#x\n", cases[i / 2].name,
                    i % 2 ? "without" : "with", (unsigned)s);
        wrong += s != 0;
    }
    return wrong > 0;
}
