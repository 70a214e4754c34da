/* Who waits is woken: by what comes, by deadlines, by who cancels, by who closes; and numbers may be used again. */
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

/* Differences to these do not fit into 64 bits. */
static void long_ago(int empty)
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
    long_ago(fd[0]);
    CHECK_INT(filch_read_until(fd[0], c, 1, soon), -ETIMEDOUT);
    CHECK(filch_now() >= soon);
    CHECK_INT(filch_write(fd[1], "abc", 3), 3);
    CHECK_INT(filch_read_until(fd[0], c, 1, 0), 1);
    CHECK_INT(filch_read_until(fd[0], c, 8, 0), 2); /* now it is known to be empty */
    CHECK_INT(filch_write(fd[1], "d", 1), 1);
    CHECK_INT(filch_read_until(fd[0], c, 8, 0), 1); /* but maybe wrongly so */
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

/* ---- cancel, close ---- */

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

/* In the midst of a close nobody may stand in line any more, as nobody would wake him; who tries finds out afterwards. */
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
        fi_hold_also(&f->lock);
        CHECK(f->waiters[FI_IO_READ].first == NULL);
        fi_let_go(&f->lock);
    }
    close(fd[0]);
    fi_fd_end_close(f, generation);
    CHECK_INT(join(late), -EBADF);
    CHECK_INT(filch_close(fd[1]), 0);
}

/* ---- numbers that are used again ---- */

/* The same number, for another file each time. */
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

/* Not Filch's: opened and closed by others, and blocking. */
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

/* Filch's, but somebody has closed it behind its back; then the number is Filch's again. */
static void *careless_body(void *arg)
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

/* A copy keeps the file open, and what is told of it is for a number that is another's by then. */
static void *copied_body(void *arg)
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

static void numbers_used_again(void)
{
    on_fiber(reused_body, NULL);
    on_fiber(foreign_body, NULL);
    on_fiber(careless_body, NULL);
    on_fiber(copied_body, NULL);
}

/* ---- anything else that can be polled ---- */

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

static void *nonsense_body(void *arg)
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

static void nonsense(void)
{
    on_fiber(nonsense_body, NULL);
    in_thread(nonsense_body, NULL);
}

/* ---- a worker that has much to do, and one that has nothing ---- */

static atomic_int over;

static void *compute(void *arg)
{
    (void)arg;
    while (!atomic_load(&over))
        ;
    return NULL;
}

/* Its worker computes; the others must hear of what comes. */
static void beside_work(void)
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

static void *yield_until_over(void *arg)
{
    (void)arg;
    while (!atomic_load(&over))
        filch_yield();
    return NULL;
}

/* Work that never ends must not keep what comes from outside waiting. */
static void beside_yields(void)
{
    filch_fiber *busy[8], *f;
    int fd[2];

    atomic_store(&over, 0);
    CHECK_INT(filch_pipe(fd), 0);
    for (int i = 0; i < 8; i++)
        busy[i] = filch_fiber_start(yield_until_over, NULL);
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

/* While nothing comes nobody wakes: no worker falls asleep twice. */
static void idle_is_idle(void)
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

/* Timers, threads that bring work, and guests, all while a fiber waits for what does not come. */
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

/* ---- bytes and deadlines ---- */

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
static void no_byte_lost(void)
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

/* ---- guests ---- */

FILCH_TASK(long, read_in_task, int, fd)
{
    char c;

    return (long)filch_read(fd, &c, 1);
}

static void *run_reader(void *arg)
{
    return (void *)(intptr_t)FILCH_RUN(read_in_task, *(int *)arg);
}

/* A guest's task waits, and the guest gives the worker back: now that has to be awake enough to hear what comes. */
static void after_a_guest(void)
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

WITH_WORKERS(after_a_guest)
WITH_WORKERS(deadlines)
WITH_WORKERS(no_byte_lost)
WITH_WORKERS(full_and_empty)
WITH_WORKERS(cancelled)
WITH_WORKERS(closed)
WITH_WORKERS(being_closed)
WITH_WORKERS(numbers_used_again)
WITH_WORKERS(other_descriptors)
WITH_WORKERS(nonsense)
WITH_WORKERS(beside_work)
WITH_WORKERS(beside_yields)
WITH_WORKERS(idle_is_idle)
WITH_WORKERS(beside_other_waits)

CHECK_MAIN(test_deadlines, test_no_byte_lost, test_full_and_empty, test_cancelled, test_closed,
           test_being_closed, test_numbers_used_again, test_other_descriptors, test_nonsense,
           test_beside_work, test_beside_yields, test_idle_is_idle, test_beside_other_waits,
           test_after_a_guest)
