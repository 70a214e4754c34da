/* The blocking pool: results, limit and order of calls.  Also host names, paths, fork(), and
 * descriptors that outlive the runtime. */
#include "unit/io/helpers.h"

#include <stdio.h>
#include <sys/wait.h>

static int64_t double_it(void *arg)
{
    return 2 * *(int64_t *)arg;
}

static void *results_body(void *arg)
{
    (void)arg;
    for (int64_t i = 0; i < 100; i++)
        CHECK_INT(filch_run_blocking(double_it, &i), 2 * i);
    return NULL;
}

static int64_t is_worker(void *arg)
{
    (void)arg;
    return fi_worker_self() != NULL;
}

static void *not_on_worker_body(void *arg)
{
    (void)arg;
    CHECK_INT(filch_run_blocking(is_worker, NULL), 0);
    return NULL;
}

static void results(void)
{
    int64_t n = 21;

    on_fiber(results_body, NULL);
    on_fiber(not_on_worker_body, NULL);
    CHECK_INT(filch_run_blocking(double_it, &n), 42);
}

/* ---- the number of threads ---- */

#define BOUND 3
#define CALLS 20

static atomic_int inside, most, turns;
static atomic_bool is_blocked;

static int64_t wait_inside(void *arg)
{
    int now = atomic_fetch_add(&inside, 1) + 1, old = atomic_load(&most);

    while (old < now && !atomic_compare_exchange_weak(&most, &old, now))
        ;
    while (atomic_load(&is_blocked))
        sched_yield();
    *(int *)arg = atomic_fetch_add(&turns, 1);
    atomic_fetch_sub(&inside, 1);
    return 0;
}

static void *call_wait_inside(void *arg)
{
    CHECK_INT(filch_run_blocking(wait_inside, arg), 0);
    return NULL;
}

static void *do_nothing(void *arg)
{
    return arg;
}

/* Calls fill all threads, and the worker stays free. */
static void thread_limit(void)
{
    filch_fiber *f[CALLS];
    int turn[CALLS];

    atomic_store(&most, 0);
    atomic_store(&turns, 0);
    atomic_store(&is_blocked, true);
    for (int i = 0; i < CALLS; i++)
        f[i] = filch_fiber_start(call_wait_inside, &turn[i]);
    while (atomic_load(&inside) < BOUND)
        sched_yield();
    on_fiber(do_nothing, NULL);
    atomic_store(&is_blocked, false);
    for (int i = 0; i < CALLS; i++)
        CHECK_INT(filch_fiber_join(f[i], NULL), 0);
    CHECK_INT(atomic_load(&most), BOUND);
    CHECK_INT(atomic_load(&turns), CALLS);
}

static void test_thread_limit(void **state)
{
    (void)state;
    workers_each(&(filch_config){.blocking_threads = BOUND}, thread_limit);
}

/* With one thread, calls run in FIFO order. */
static void fifo_order(void)
{
    filch_fiber *f[CALLS];
    int turn[CALLS];

    atomic_store(&turns, 0);
    atomic_store(&is_blocked, true);
    for (int i = 0; i < CALLS; i++) {
        fi_runtime *rt;
        bool waits = false;
        f[i] = filch_fiber_start(call_wait_inside, &turn[i]);
        while (!waits) {
            rt = fi_runtime_lock_running();
            fi_io *io = fi_io_find(rt);
            if (io) {
                int n = 0;
                fi_lock_lock(&io->blocking_pool.lock);
                for (fi_blocking_call *c = io->blocking_pool.first; c; c = c->next)
                    n++;
                fi_lock_unlock(&io->blocking_pool.lock);
                waits = n == i && atomic_load(&inside) == 1;
            }
            fi_runtime_unlock_running();
            sched_yield();
        }
    }
    atomic_store(&is_blocked, false);
    for (int i = 0; i < CALLS; i++)
        CHECK_INT(filch_fiber_join(f[i], NULL), 0);
    for (int i = 0; i < CALLS; i++)
        CHECK_INT(turn[i], i);
}

static void test_fifo_order(void **state)
{
    (void)state;
    workers_each(&(filch_config){.blocking_threads = 1}, fifo_order);
}

/* Consecutive calls use the same thread. */
static void thread_reuse(void)
{
    fi_runtime *rt;

    on_fiber(results_body, NULL);
    rt = fi_runtime_lock_running();
    CHECK_INT(fi_io_find(rt)->blocking_pool.n_threads, 1);
    fi_runtime_unlock_running();
}

/* ---- addresses ---- */

static void *host_names_body(void *arg)
{
    int s = filch_listen("localhost", 0, 4), fd, peer;

    (void)arg;
    CHECK(s >= 0);
    CHECK_INT(filch_listen("127.0.0.1", filch_local_port(s), 4), -EADDRINUSE);
    fd = filch_connect_until("localhost", filch_local_port(s), filch_now() + FILCH_S(60));
    CHECK(fd >= 0);
    peer = filch_accept(s);
    CHECK(peer >= 0);
    CHECK_INT(filch_close(peer), 0);
    CHECK_INT(filch_close(fd), 0);
    peer = filch_local_port(s);
    CHECK_INT(filch_close(s), 0);
    CHECK_INT(filch_connect("127.0.0.1", peer), -ECONNREFUSED);
    fd = filch_connect("no-such-name.invalid", 80);
    CHECK(fd == -ENOENT || fd == -EAGAIN);
    CHECK_INT(filch_connect("127.0.0.1", 65536), -EINVAL);
    CHECK_INT(filch_connect("127.0.0.1", -1), -EINVAL);
    CHECK_INT(filch_connect("/tmp/x", 1), -EINVAL);
    CHECK_INT(filch_connect("/no/such/socket", 0), -ENOENT);
    s = filch_listen(NULL, 0, 4);
    CHECK(s >= 0);
    fd = filch_connect("127.0.0.1", filch_local_port(s));
    CHECK(fd >= 0);
    CHECK_INT(filch_close(fd), 0);
    CHECK_INT(filch_close(s), 0);
    return NULL;
}

static void host_names(void)
{
    on_fiber(host_names_body, NULL);
    in_thread(host_names_body, NULL);
}

/* A path that is in use is refused, and so is a path that is too long. */
static void *unix_paths_body(void *arg)
{
    char path[64], longer[200];
    int s, fd[8] = {0}, n = 0;

    (void)arg;
    snprintf(path, sizeof path, "/tmp/filch-io-%d", (int)getpid());
    unlink(path);
    memset(longer, 'x', sizeof longer);
    longer[0] = '/';
    longer[sizeof longer - 1] = 0;
    s = filch_listen(path, 0, 1);
    CHECK(s >= 0);
    CHECK_INT(filch_listen(path, 0, 1), -EADDRINUSE);
    CHECK_INT(filch_listen(longer, 0, 1), -ENAMETOOLONG);
    CHECK(filch_local_port(s) < 0);
    while (n < 8 && (fd[n] = filch_connect_until(path, 0, filch_now() + FILCH_MS(5))) >= 0)
        n++;
    CHECK(n > 0 && n < 8);
    CHECK_INT(n < 8 ? fd[n] : 0, -ETIMEDOUT); /* the backlog is full */
    while (n > 0)
        CHECK_INT(filch_close(fd[--n]), 0);
    CHECK_INT(filch_close(s), 0);
    unlink(path);
    return NULL;
}

static void unix_paths(void)
{
    on_fiber(unix_paths_body, NULL);
    in_thread(unix_paths_body, NULL);
}

/* ---- descriptors that outlive a runtime ---- */

static void *ping(void *arg)
{
    const int *fd = arg;
    char c;

    CHECK_INT(filch_write(fd[1], "x", 1), 1);
    CHECK_INT(filch_read(fd[0], &c, 1), 1);
    CHECK_INT(filch_read_until(fd[0], &c, 1, filch_now() + FILCH_MS(1)), -ETIMEDOUT);
    return NULL;
}

static void test_descriptor_outlives_runtime(void **state)
{
    int fd[2];

    (void)state;
    CHECK_INT(filch_pipe(fd), 0);
    for (int i = 0; i < 5; i++) {
        on_fiber(ping, fd);
        CHECK_INT(filch_stop(), 0);
    }
    ping(fd);
    CHECK_INT(filch_close(fd[0]), 0);
    CHECK_INT(filch_close(fd[1]), 0);
    CHECK_INT(filch_worker_count(), 0);
}

/* ---- fork ---- */

static void *fork_body(void *arg)
{
    int fd[2];
    char c = 0;
    pid_t child;

    (void)arg;
    CHECK_INT(filch_pipe(fd), 0);
    CHECK_INT(filch_read_until(fd[0], &c, 1, filch_now() + 1000000), -ETIMEDOUT);
    child = fork();
    if (child == 0) {
        /* There is no runtime, so calls work as on a thread. */
        if (filch_write(fd[1], "x", 1) != 1 || filch_close(fd[0]) != 0 || filch_close(fd[1]) != 0)
            _exit(1);
        _exit(0);
    }
    CHECK_INT(filch_read(fd[0], &c, 1), 1);
    CHECK_INT(c, 'x');
    CHECK_INT(filch_write(fd[1], "y", 1), 1);
    CHECK_INT(filch_read(fd[0], &c, 1), 1);
    CHECK_INT(filch_close(fd[0]), 0);
    CHECK_INT(filch_close(fd[1]), 0);
    return (void *)(intptr_t)child;
}

static void io_in_fork_child(void)
{
    pid_t child = (pid_t)(intptr_t)on_fiber(fork_body, NULL);
    int status;

    CHECK_INT(waitpid(child, &status, 0), child);
    CHECK_INT(status, 0);
}

/* The child starts a runtime of its own, and both work.  ThreadSanitizer does not allow threads
 * in the child. */
static void test_runtime_in_parent_and_child(void **state)
{
    int fd[2], status;
    pid_t child;

    (void)state;
#ifdef FILCH_EMULATED
    puts("skipped: the emulator starts no threads in the child of a fork");
    return;
#endif
    if (FI_UNDER_TSAN)
        return;
    CHECK_INT(filch_start(NULL), 0);
    CHECK_INT(filch_pipe(fd), 0);
    on_fiber(ping, fd);
    child = fork();
    if (child == 0) {
        int own[2];
        filch_pipe(own);
        on_fiber(ping, own);
        _exit(filch_stop());
    }
    on_fiber(ping, fd);
    CHECK_INT(waitpid(child, &status, 0), child);
    CHECK_INT(status, 0);
    CHECK_INT(filch_close(fd[0]), 0);
    CHECK_INT(filch_close(fd[1]), 0);
    CHECK_INT(filch_stop(), 0);
}

WITH_WORKERS(results)
WITH_WORKERS(thread_reuse)
WITH_WORKERS(host_names)
WITH_WORKERS(unix_paths)
WITH_WORKERS(io_in_fork_child)

CHECK_MAIN(test_results, test_thread_limit, test_fifo_order, test_thread_reuse, test_host_names,
           test_unix_paths, test_descriptor_outlives_runtime, test_io_in_fork_child,
           test_runtime_in_parent_and_child)
