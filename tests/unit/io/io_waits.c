/* Waits end by events, deadlines, cancellation and close.  Numbers are reused by other files. */
#include "unit/io/helpers.h"

#include "seed.h"

#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>

static void *read_one(void *arg)
{
    char c;

    return (void *)(intptr_t)filch_read((int)(intptr_t)arg, &c, 1);
}

static intptr_t join(filch_fiber *f)
{
    void *result;

    CHECK_INT(filch_fiber_join(f, &result), 0);
    return (intptr_t)result;
}

static filch_fiber *start_reader(int fd)
{
    filch_fiber *f = filch_fiber_start(read_one, (void *)(intptr_t)fd);

    await_waiting(fd, FI_IO_READ, 1);
    return f;
}

/* ---- deadlines ---- */

/* The difference between now and these deadlines overflows 64 bits. */
static void deadlines_long_past(int empty)
{
    static const int64_t deadlines[] = {INT64_MIN, INT64_MIN + 1, INT64_MIN + FILCH_S(1), -1};
    int s = filch_listen("127.0.0.1", 0, 1);
    char c;

    CHECK(s >= 0);
    for (size_t i = 0; i < sizeof deadlines / sizeof deadlines[0]; i++) {
        CHECK_INT(filch_read_until(empty, &c, 1, deadlines[i]), -ETIMEDOUT);
        CHECK_INT(filch_accept_until(s, deadlines[i]), -ETIMEDOUT);
        CHECK_INT(filch_wait_fd_until(empty, FILCH_READABLE, deadlines[i]), -ETIMEDOUT);
        CHECK_INT(filch_sleep_until(deadlines[i]), 0);
    }
    CHECK_INT(filch_sleep(INT64_MIN), 0);
    CHECK_INT(filch_close(s), 0);
}

static void *deadlines_body(void *arg)
{
    int64_t soon = filch_now() + FILCH_MS(5);
    int fd[2];
    char c[8];

    (void)arg;
    CHECK_INT(filch_pipe(fd), 0);
    CHECK_INT(filch_read_until(fd[0], c, 1, 0), -ETIMEDOUT);
    deadlines_long_past(fd[0]);
    CHECK_INT(filch_read_until(fd[0], c, 1, soon), -ETIMEDOUT);
    CHECK(filch_now() >= soon);
    CHECK_INT(filch_write(fd[1], "abc", 3), 3);
    CHECK_INT(filch_read_until(fd[0], c, 1, 0), 1);
    CHECK_INT(filch_read_until(fd[0], c, 8, 0), 2); /* a short read: it is marked as drained */
    CHECK_INT(filch_write(fd[1], "d", 1), 1);
    CHECK_INT(filch_read_until(fd[0], c, 8, 0),
              1); /* the mark is out of date: it is tried once more */
    CHECK_INT(filch_wait_fd_until(fd[0], FILCH_READABLE, 0), -ETIMEDOUT);
    CHECK_INT(filch_wait_fd_until(fd[0], FILCH_READABLE, filch_now() + FILCH_MS(2)), -ETIMEDOUT);
    CHECK_INT(filch_accept_until(fd[0], 0), -ENOTSOCK);
    CHECK_INT(filch_close(fd[0]), 0);
    CHECK_INT(filch_close(fd[1]), 0);
    return NULL;
}

static void deadlines(void)
{
    on_fiber(deadlines_body, NULL);
    in_thread(deadlines_body, NULL);
}

static void *full_body(void *arg)
{
    static char big[1 << 20];
    int fd[2], s = filch_listen("127.0.0.1", 0, 1);

    (void)arg;
    CHECK(s >= 0);
    CHECK_INT(filch_accept_until(s, filch_now() + FILCH_MS(2)), -ETIMEDOUT);
    CHECK_INT(filch_close(s), 0);
    CHECK_INT(filch_socketpair(fd), 0);
    while (filch_write_until(fd[0], big, sizeof big, 0) > 0)
        ;
    CHECK_INT(filch_write_until(fd[0], big, 1, filch_now() + FILCH_MS(2)), -ETIMEDOUT);
    CHECK_INT(filch_wait_fd_until(fd[0], FILCH_WRITABLE, filch_now() + FILCH_MS(2)), -ETIMEDOUT);
    CHECK_INT(filch_close(fd[0]), 0);
    CHECK_INT(filch_close(fd[1]), 0);
    return NULL;
}

static void full_and_empty(void)
{
    on_fiber(full_body, NULL);
    in_thread(full_body, NULL);
}

/* ---- cancellation and close ---- */

static void cancelled(void)
{
    int fd[2];
    filch_fiber *f;

    CHECK_INT(filch_socketpair(fd), 0);
    f = start_reader(fd[0]);
    filch_fiber_cancel(f);
    CHECK_INT(join(f), -ECANCELED);
    CHECK_INT(filch_close(fd[0]), 0);
    CHECK_INT(filch_close(fd[1]), 0);
}

static void *wait_both(void *arg)
{
    return (void *)(intptr_t)filch_wait_fd((int)(intptr_t)arg, FILCH_READABLE | FILCH_WRITABLE);
}

static void *accept_one(void *arg)
{
    return (void *)(intptr_t)filch_accept((int)(intptr_t)arg);
}

static void *close_one(void *arg)
{
    return (void *)(intptr_t)filch_close((int)(intptr_t)arg);
}

static void fill(int fd)
{
    static char big[1 << 16];

    while (filch_write_until(fd, big, sizeof big, 0) > 0)
        ;
}

static void close_with(void *(*how)(void *(*)(void *), void *))
{
    int fd[2], s = filch_listen("127.0.0.1", 0, 1);
    filch_fiber *f[4];

    CHECK_INT(filch_socketpair(fd), 0);
    fill(fd[0]);
    f[0] = start_reader(fd[0]);
    f[1] = filch_fiber_start(read_one, (void *)(intptr_t)fd[0]);
    await_waiting(fd[0], FI_IO_READ, 2);
    f[2] = filch_fiber_start(wait_both, (void *)(intptr_t)fd[0]);
    await_waiting(fd[0], FI_IO_WRITE, 1);
    f[3] = filch_fiber_start(accept_one, (void *)(intptr_t)s);
    await_waiting(s, FI_IO_READ, 1);
    CHECK_INT((intptr_t)how(close_one, (void *)(intptr_t)fd[0]), 0);
    CHECK_INT((intptr_t)how(close_one, (void *)(intptr_t)s), 0);
    for (int i = 0; i < 4; i++)
        CHECK_INT(join(f[i]), -ECANCELED);
    CHECK_INT((intptr_t)how(close_one, (void *)(intptr_t)s), -EBADF);
    CHECK_INT(filch_close(fd[1]), 0);
}

static void closed(void)
{
    close_with(on_fiber);
    close_with(in_thread);
}

static void *yield_some(void *arg)
{
    for (int i = 0; i < 10; i++)
        filch_yield();
    return arg;
}

/* A read that begins while the number is being closed must not enqueue, because nothing would
 * wake it. It fails after the close. */
static void being_closed(void)
{
    fi_runtime *rt = fi_runtime_lock_running();
    fi_io *io;
    fi_fd *f;
    filch_fiber *late;
    uint32_t generation;
    int fd[2];

    fi_runtime_unlock_running();
    CHECK_INT(filch_pipe(fd), 0);
    CHECK_INT(fi_io_get(rt, &io), 0);
    CHECK_INT(fi_fd_table_get(&io->fd_table, fd[0], &f), 0);
    generation = fi_fd_begin_close(io, f, fd[0]);
    late = filch_fiber_start(read_one, (void *)(intptr_t)fd[0]);
    for (int i = 0; i < 200; i++) {
        on_fiber(yield_some, NULL);
        fi_fd_lock(f);
        CHECK(f->waiters[FI_IO_READ].first == NULL);
        fi_fd_unlock(f);
    }
    close(fd[0]);
    fi_fd_end_close(f, generation);
    CHECK_INT(join(late), -EBADF);
    CHECK_INT(filch_close(fd[1]), 0);
}

/* ---- reused numbers ---- */

/* Filch opens another file with the same number each time. */
static void *reused_body(void *arg)
{
    int number = -1;

    (void)arg;
    for (int i = 0; i < 20; i++) {
        int fd[2];
        filch_fiber *f;
        CHECK_INT(filch_socketpair(fd), 0);
        if (i > 0)
            CHECK_INT(fd[0], number);
        number = fd[0];
        f = start_reader(fd[0]);
        CHECK_INT(filch_write(fd[1], "x", 1), 1);
        CHECK_INT(join(f), 1);
        CHECK_INT(filch_close(fd[0]), 0);
        CHECK_INT(filch_close(fd[1]), 0);
    }
    return NULL;
}

/* The program opens and closes the files by itself, in blocking mode. */
static void *foreign_body(void *arg)
{
    int number = -1;

    (void)arg;
    for (int i = 0; i < 20; i++) {
        int fd[2];
        filch_fiber *f;
        CHECK_INT(i % 2 ? pipe(fd) : socketpair(AF_UNIX, SOCK_STREAM, 0, fd), 0);
        if (i > 0)
            CHECK_INT(fd[0], number);
        number = fd[0];
        f = start_reader(fd[0]);
        CHECK_INT(write(fd[1], "x", 1), 1);
        CHECK_INT(join(f), 1);
        CHECK_INT(close(fd[0]), 0);
        CHECK_INT(close(fd[1]), 0);
    }
    return NULL;
}

/* The program closes a file of Filch by close(2).  Then Filch opens another one with that
 * number. */
static void *closed_by_program_body(void *arg)
{
    (void)arg;
    for (int i = 0; i < 10; i++) {
        int fd[2];
        filch_fiber *f;
        CHECK_INT(filch_pipe(fd), 0);
        f = start_reader(fd[0]);
        CHECK_INT(filch_write(fd[1], "x", 1), 1);
        CHECK_INT(join(f), 1);
        CHECK_INT(close(fd[0]), 0);
        CHECK_INT(close(fd[1]), 0);
    }
    return NULL;
}

/* A duplicate keeps the file open, so its events arrive after the number belongs to another
 * file. */
static void *duplicated_body(void *arg)
{
    int fd[2], other[2], copy;
    filch_fiber *f;

    (void)arg;
    CHECK_INT(filch_pipe(fd), 0);
    f = start_reader(fd[0]);
    CHECK_INT(filch_write(fd[1], "x", 1), 1);
    CHECK_INT(join(f), 1);
    copy = dup(fd[0]);
    CHECK_INT(filch_close(fd[0]), 0);
    CHECK_INT(filch_pipe(other), 0);
    CHECK_INT(other[0], fd[0]);
    f = start_reader(other[0]);
    CHECK_INT(filch_write(fd[1], "y", 1), 1);
    CHECK_INT(filch_wait_fd(copy, FILCH_READABLE), FILCH_READABLE);
    CHECK_INT(filch_write(other[1], "z", 1), 1);
    CHECK_INT(join(f), 1);
    for (int i = 0; i < 2; i++)
        CHECK_INT(filch_close(other[i]), 0);
    CHECK_INT(filch_close(fd[1]), 0);
    CHECK_INT(filch_close(copy), 0);
    return NULL;
}

static void reused_numbers(void)
{
    on_fiber(reused_body, NULL);
    on_fiber(foreign_body, NULL);
    on_fiber(closed_by_program_body, NULL);
    on_fiber(duplicated_body, NULL);
}

/* ---- other kinds of descriptors ---- */

static void *others_body(void *arg)
{
    struct itimerspec soon = {.it_value = {0, 1000000}};
    int event = eventfd(0, 0), timer = timerfd_create(CLOCK_MONOTONIC, 0), fd[2];
    uint64_t n = 1;

    (void)arg;
    CHECK_INT(filch_wait_fd(event, FILCH_READABLE | FILCH_WRITABLE), FILCH_WRITABLE);
    CHECK_INT(filch_write(event, &n, sizeof n), sizeof n);
    CHECK_INT(filch_wait_fd(event, FILCH_READABLE | FILCH_WRITABLE),
              FILCH_READABLE | FILCH_WRITABLE);
    CHECK_INT(filch_read(event, &n, sizeof n), sizeof n);
    CHECK_INT(timerfd_settime(timer, 0, &soon, NULL), 0);
    CHECK_INT(filch_wait_fd(timer, FILCH_READABLE), FILCH_READABLE);
    CHECK_INT(filch_read(timer, &n, sizeof n), sizeof n);
    CHECK_INT(timerfd_settime(timer, 0, &soon, NULL), 0);
    CHECK_INT(filch_read(timer, &n, sizeof n), sizeof n);
    CHECK_INT(filch_pipe(fd), 0);
    CHECK_INT(filch_close(fd[1]), 0);
    CHECK_INT(filch_wait_fd(fd[0], FILCH_READABLE), FILCH_READABLE);
    CHECK_INT(filch_close(fd[0]), 0);
    CHECK_INT(filch_close(event), 0);
    CHECK_INT(filch_close(timer), 0);
    return NULL;
}

static void other_descriptors(void)
{
    on_fiber(others_body, NULL);
    in_thread(others_body, NULL);
}

static void *wrong_arguments_body(void *arg)
{
    const int bad[] = {-1, -1000, 900, 1 << 29, INT32_MAX};
    int file = open("/dev/null", O_RDONLY), dir = open("/", O_RDONLY), null[2] = {file, dir};
    char c;

    (void)arg;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        CHECK_INT(filch_read(bad[i], &c, 1), -EBADF);
        CHECK_INT(filch_write(bad[i], "x", 1), -EBADF);
        CHECK_INT(filch_accept(bad[i]), -EBADF);
        CHECK_INT(filch_close(bad[i]), -EBADF);
        CHECK_INT(filch_wait_fd(bad[i], FILCH_READABLE), -EBADF);
        CHECK_INT(filch_local_port(bad[i]), -EBADF);
        CHECK_INT(filch_sendfile(bad[i], 0, NULL, 1), -EBADF);
    }
    CHECK_INT(filch_wait_fd(0, 0), -EINVAL);
    CHECK_INT(filch_wait_fd(0, 4), -EINVAL);
    CHECK_INT(filch_read(null[0], &c, 1), 0);
    CHECK_INT(filch_wait_fd(null[1], FILCH_READABLE), -EPERM);
    CHECK_INT(filch_read(null[1], &c, 1), -EISDIR);
    CHECK_INT(filch_close(file), 0);
    CHECK_INT(filch_close(dir), 0);
    return NULL;
}

static void wrong_arguments(void)
{
    on_fiber(wrong_arguments_body, NULL);
    in_thread(wrong_arguments_body, NULL);
}

/* ---- busy and idle workers ---- */

static atomic_int over;

static void *compute(void *arg)
{
    (void)arg;
    while (!atomic_load(&over))
        ;
    return NULL;
}

/* The worker of the reader computes, so another worker must poll. */
static void beside_computation(void)
{
    filch_fiber *busy, *f;
    int fd[2];

    if (filch_worker_count() == 1)
        return;
    atomic_store(&over, 0);
    CHECK_INT(filch_pipe(fd), 0);
    f = start_reader(fd[0]);
    busy = filch_fiber_start(compute, NULL);
    for (int i = 0; i < 20; i++) {
        CHECK_INT(filch_write(fd[1], "x", 1), 1);
        CHECK_INT(join(f), 1);
        f = start_reader(fd[0]);
    }
    atomic_store(&over, 1);
    CHECK_INT(join(busy), 0);
    CHECK_INT(filch_close(fd[1]), 0);
    CHECK_INT(join(f), 0);
    CHECK_INT(filch_close(fd[0]), 0);
}

static void *yield_until_stopped(void *arg)
{
    (void)arg;
    while (!atomic_load(&over))
        filch_yield();
    return NULL;
}

/* Fibers that yield for ever must not delay events. */
static void beside_yields(void)
{
    filch_fiber *busy[8], *f;
    int fd[2];

    atomic_store(&over, 0);
    CHECK_INT(filch_pipe(fd), 0);
    for (int i = 0; i < 8; i++)
        busy[i] = filch_fiber_start(yield_until_stopped, NULL);
    for (int i = 0; i < 5; i++) {
        f = start_reader(fd[0]);
        CHECK_INT(write(fd[1], "x", 1), 1);
        CHECK_INT(join(f), 1);
    }
    atomic_store(&over, 1);
    for (int i = 0; i < 8; i++)
        CHECK_INT(join(busy[i]), 0);
    CHECK_INT(filch_close(fd[0]), 0);
    CHECK_INT(filch_close(fd[1]), 0);
}

static uint64_t sleeps(bool *one_polls)
{
    fi_runtime *rt = fi_runtime_lock_running();
    uint64_t n = 0;

    for (unsigned i = 0; i < rt->n_workers; i++)
        n += fi_load_relaxed(&rt->workers[i].counters.sleeps);
    *one_polls = fi_load_relaxed(&rt->idle.polling) != NULL &&
                 fi_load_relaxed(&rt->idle.state) == rt->n_workers;
    fi_runtime_unlock_running();
    return n;
}

/* Without events no worker wakes up. */
static void idle_workers_stay_asleep(void)
{
    uint64_t before;
    bool one_polls = false;
    filch_fiber *f;
    int fd[2];

    CHECK_INT(filch_pipe(fd), 0);
    f = start_reader(fd[0]);
    while (!one_polls)
        sleeps(&one_polls), sched_yield();
    before = sleeps(&one_polls);
    usleep(30000);
    CHECK_INT(sleeps(&one_polls), before);
    CHECK(one_polls);
    CHECK_INT(write(fd[1], "x", 1), 1);
    CHECK_INT(join(f), 1);
    CHECK_INT(filch_close(fd[0]), 0);
    CHECK_INT(filch_close(fd[1]), 0);
}

static void *sleep_some(void *arg)
{
    (void)arg;
    for (int i = 0; i < 5; i++)
        CHECK_INT(filch_sleep(FILCH_MS(1)), 0);
    return NULL;
}

FILCH_TASK(long, one_more, long, n)
{
    return n + 1;
}

/* Timers, external submits and calling threads that run tasks, while a fiber waits for an event
 * that does not come. */
static void beside_other_waits(void)
{
    filch_fiber *f;
    int fd[2];

    CHECK_INT(filch_pipe(fd), 0);
    f = start_reader(fd[0]);
    on_fiber(sleep_some, NULL);
    for (long i = 0; i < SCALED(1000); i++)
        CHECK_INT(FILCH_RUN(one_more, i), i + 1);
    on_fiber(sleep_some, NULL);
    CHECK_INT(filch_close(fd[1]), 0);
    CHECK_INT(join(f), 0);
    CHECK_INT(filch_close(fd[0]), 0);
}

/* ---- reads with short deadlines ---- */

#define BYTES SCALED(20000)

static void *read_impatiently(void *arg)
{
    int fd = (int)(intptr_t)arg;
    uint64_t x = seed_get() | 1;
    unsigned all = 0;

    while (all < BYTES) {
        unsigned char c[3];
        ssize_t n;
        x = x * UINT64_C(6364136223846793005) + 1;
        n = filch_read_until(fd, c, sizeof c, filch_now() + (int64_t)(x >> 33) % 30000);
        if (n == -ETIMEDOUT)
            continue;
        CHECK(n > 0);
        for (ssize_t i = 0; i < n; i++)
            CHECK_INT(c[i], (all + (unsigned)i) % 251);
        all += (unsigned)n;
    }
    return NULL;
}

static void *write_slowly(void *arg)
{
    for (unsigned i = 0; i < BYTES; i++) {
        unsigned char c = (unsigned char)(i % 251);
        CHECK_INT(filch_write((int)(intptr_t)arg, &c, 1), 1);
        if (i % 3 == 0)
            filch_sleep(FILCH_US(i % 7));
    }
    return NULL;
}

/* Bytes that come together with a deadline are returned by that read or by the next one. */
static void reads_at_deadlines(void)
{
    int fd[2];
    filch_fiber *f[2];

    CHECK_INT(filch_socketpair(fd), 0);
    f[0] = filch_fiber_start(read_impatiently, (void *)(intptr_t)fd[0]);
    f[1] = filch_fiber_start(write_slowly, (void *)(intptr_t)fd[1]);
    for (int i = 0; i < 2; i++)
        CHECK_INT(filch_fiber_join(f[i], NULL), 0);
    CHECK_INT(filch_close(fd[0]), 0);
    CHECK_INT(filch_close(fd[1]), 0);
}

/* ---- calling threads that run tasks ---- */

FILCH_TASK(long, read_in_task, int, fd)
{
    char c;

    return (long)filch_read(fd, &c, 1);
}

static void *run_reader(void *arg)
{
    return (void *)(intptr_t)FILCH_RUN(read_in_task, *(int *)arg);
}

/* The task of a calling thread waits, and the thread returns its worker.  That worker must poll. */
static void after_caller_returns_worker(void)
{
    bool asleep = false;
    pthread_t t;
    void *n;
    int fd[2];

    CHECK_INT(filch_pipe(fd), 0);
    while (!asleep) {
        fi_runtime *rt = fi_runtime_lock_running();
        asleep = fi_load_relaxed(&rt->idle.state) == rt->n_workers;
        fi_runtime_unlock_running();
    }
    CHECK_INT(pthread_create(&t, NULL, run_reader, &fd[0]), 0);
    await_waiting(fd[0], FI_IO_READ, 1);
    CHECK_INT(write(fd[1], "x", 1), 1);
    pthread_join(t, &n);
    CHECK_INT((intptr_t)n, 1);
    CHECK_INT(filch_close(fd[0]), 0);
    CHECK_INT(filch_close(fd[1]), 0);
}

WITH_WORKERS(after_caller_returns_worker)
WITH_WORKERS(deadlines)
WITH_WORKERS(reads_at_deadlines)
WITH_WORKERS(full_and_empty)
WITH_WORKERS(cancelled)
WITH_WORKERS(closed)
WITH_WORKERS(being_closed)
WITH_WORKERS(reused_numbers)
WITH_WORKERS(other_descriptors)
WITH_WORKERS(wrong_arguments)
WITH_WORKERS(beside_computation)
WITH_WORKERS(beside_yields)
WITH_WORKERS(idle_workers_stay_asleep)
WITH_WORKERS(beside_other_waits)

CHECK_MAIN(test_deadlines, test_reads_at_deadlines, test_full_and_empty, test_cancelled,
           test_closed, test_being_closed, test_reused_numbers, test_other_descriptors,
           test_wrong_arguments, test_beside_computation, test_beside_yields,
           test_idle_workers_stay_asleep, test_beside_other_waits, test_after_caller_returns_worker)
