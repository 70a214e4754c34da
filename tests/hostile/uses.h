/* A short, correct use of every public function, with a check of its result.  Programs call them
 * from unusual contexts. */
#ifndef HOSTILE_USES_H
#define HOSTILE_USES_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "victim.h"

#include <filch/filch.h>

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>

typedef struct use {
    const char *name;
    void (*run)(void);
} use;

/* A thread may run a use several times, and several threads may run it at once. */

static inline int64_t use_soon(void)
{
    return filch_now() + FILCH_MS(1);
}

static inline int64_t use_late(void)
{
    return filch_now() + FILCH_S(1000);
}

static inline void use_done(void *arg)
{
    filch_wait_group_done(arg);
}

static inline void *use_same(void *arg)
{
    return arg;
}

static inline void use_count(void *arg)
{
    atomic_fetch_add((atomic_int *)arg, 1);
}

static inline int use_fail(void *arg)
{
    (void)arg;
    return -EXDEV;
}

/* ---- the runtime ---- */

static void use_version(void)
{
    MUST(strcmp(filch_version(), FILCH_VERSION) == 0);
}

static void use_cpus(void)
{
    MUST(filch_cpu_count() >= 1);
}

static void use_stats(void)
{
    filch_stats s;
    filch_counters c;
    int e = filch_stats_get(&s);

    MUST(e == 0 || e == -ESRCH);
    e = filch_stats_worker(0, &c);
    MUST(e == 0 || e == -ESRCH);
    MUST(filch_stats_worker(1u << 31, &c) < 0);
    MUST(filch_worker_count() <= FILCH_WORKERS_MAX && filch_counter_name(0) &&
         !filch_counter_name(1000));
}

static void use_dump(void)
{
    int fd = open("/dev/null", O_WRONLY | O_CLOEXEC), e = filch_dump(fd);

    MUST(e == 0 || e == -ESRCH);
    MUST(filch_dump(-1) < 0);
    close(fd);
}

static void use_memory(void)
{
    void *p = filch_alloc(100);
    int e = filch_set_allocator(NULL);

    NEED_PTR(p);
    MUST(e == 0 || e == -EBUSY);
    filch_free(p, 100);
    filch_free(NULL, 100);
    MUST(filch_set_allocator(&(filch_allocator){NULL, NULL, NULL}) == -EINVAL);
}

/* ---- tasks, groups and jobs ---- */

FILCH_TASK(int, use_tree, int, n)
{
    if (n == 0)
        return 1;
    FILCH_SPAWN(use_tree, n - 1);
    int a = FILCH_CALL(use_tree, n - 1);
    return FILCH_SYNC(use_tree) + a;
}

static void use_task(void)
{
    MUST(FILCH_RUN(use_tree, 6) == 64);
}

static void use_group(void)
{
    filch_group g = FILCH_GROUP_INIT, h = FILCH_GROUP_INIT;
    atomic_int n = 0;

    for (int i = 0; i < 5; i++)
        NEED(filch_group_run(&g, use_count, &n));
    NEED(filch_group_wait(&g));
    MUST(n == 5);
    NEED(filch_group_run_fallible(&h, use_fail, NULL));
    MUST(filch_group_wait_until(&h, use_late()) == -EXDEV);
    filch_group_cancel(&g);
    MUST(filch_group_is_cancelled(&g));
    NEED(filch_group_run(&g, use_count, &n));
    MUST(filch_group_wait(&g) == -ECANCELED && n == 5 && filch_group_dropped(&g) == 1);
}

static void use_jobs(void)
{
    atomic_int n = 0;
    filch_job *a = filch_job_new(use_count, &n), *b = filch_job_new(use_count, &n),
              *c = filch_job_new_fallible(use_fail, NULL);

    NEED_PTR(a);
    NEED_PTR(b);
    NEED_PTR(c);
    filch_job_set_name(a, "a");
    filch_job_set_priority(b, FILCH_PRIORITY_HIGH);
    NEED(filch_job_then(a, b));
    MUST(filch_job_after(a, b) == -ELOOP);
    NEED(filch_job_submit(a));
    MUST(filch_job_submit(b) == -EBUSY);
    NEED(filch_job_wait_until(b, use_late()));
    NEED(filch_job_wait(a));
    MUST(n == 2);
    NEED(filch_job_submit(c));
    MUST(filch_job_wait(c) == -EXDEV);
    filch_job_release(filch_job_new(use_count, &n));
    MUST(filch_job_submit(NULL) == -EINVAL && filch_job_wait(NULL) == -EINVAL &&
         filch_job_after(NULL, NULL) == -EINVAL);
}

/* ---- fibers ---- */

static void use_go(void)
{
    filch_wait_group g = {0};
    const filch_fiber_attr attr = {.name = "use", .stack_size = 32768};

    filch_wait_group_add(&g, 2);
    NEED(filch_go(use_done, &g));
    NEED(filch_go_attr(&attr, use_done, &g));
    NEED(filch_wait_group_wait(&g));
    MUST(filch_go_attr(&(filch_fiber_attr){.stack_size = (size_t)-1}, use_done, &g) == -EINVAL);
}

static void *use_sleep_long(void *arg)
{
    (void)arg;
    return (void *)(intptr_t)filch_sleep(FILCH_S(1000));
}

static void use_fiber(void)
{
    void *result = NULL;
    filch_fiber *f = filch_fiber_start(use_same, &result),
                *g = filch_fiber_start(use_sleep_long, NULL);

    NEED_PTR(f);
    NEED_PTR(g);
    NEED(filch_fiber_join_until(f, &result, use_late()));
    MUST(result == &result);
    MUST(filch_fiber_join_until(g, NULL, use_soon()) == -ETIMEDOUT);
    filch_fiber_cancel(g);
    NEED(filch_fiber_join(g, &result));
    MUST((intptr_t)result == -ECANCELED);
    f = filch_fiber_start(use_same, NULL);
    NEED_PTR(f);
    filch_fiber_detach(f);
    MUST(!filch_fiber_is_cancelled() && !filch_fiber_uncancel());
    filch_yield();
    (void)filch_fiber_self();
    const char *before = filch_fiber_name(NULL);
    filch_fiber_set_name("named");
    filch_fiber_set_name(before);
}

static int use_key(void)
{
    static atomic_int key = -1;
    int mine, none = -1;

    if (key >= 0)
        return key;
    mine = filch_fls_new(NULL);
    NEED(mine);
    return atomic_compare_exchange_strong(&key, &none, mine) ? mine : none;
}

static void use_fls(void)
{
    int key = use_key(), x;

    NEED(filch_fls_set(key, &x));
    MUST(filch_fls_get(key) == &x);
    NEED(filch_fls_set(key, NULL));
    MUST(filch_fls_set(-1, &x) == -EINVAL && filch_fls_set(1 << 30, &x) == -EINVAL);
}

static void use_keys(void)
{
    int key = filch_fls_new(NULL);

    MUST(key >= 0 || key == -EAGAIN);
    MUST(filch_fls_free(key) == (key >= 0 ? 0 : -EINVAL));
}

/* ---- time ---- */

static void use_time(void)
{
    filch_timer t = FILCH_TIMER_INIT, late = FILCH_TIMER_INIT;
    filch_wait_group g = {0};
    int64_t before = filch_now();

    NEED(filch_sleep(FILCH_US(100)));
    NEED(filch_sleep_until(before));
    NEED(filch_sleep(-1));
    NEED(filch_sleep_until(INT64_MIN));
    filch_wait_group_add(&g, 1);
    NEED(filch_timer_start(&t, INT64_MIN, use_done, &g));
    NEED(filch_timer_start(&late, FILCH_FOREVER, use_done, &g));
    NEED(filch_wait_group_wait(&g));
    MUST(filch_timer_stop(&t) == 0 && filch_timer_stop(&late) == 1);
    MUST(filch_now() >= before);
}

/* ---- channels ---- */

static void use_chan(void)
{
    filch_chan *c = filch_chan_new(sizeof(int), 2), *d = filch_chan_new(0, 0);
    int x = 7, y = 0;

    NEED_PTR(c);
    NEED_PTR(d);
    NEED(filch_chan_send(c, &x));
    NEED(filch_chan_try_send(c, NULL));
    MUST(filch_chan_try_send(c, &x) == -EAGAIN &&
         filch_chan_send_until(c, &x, use_soon()) == -ETIMEDOUT);
    MUST(filch_chan_size(c) == 2 && filch_chan_capacity(c) == 2);
    NEED(filch_chan_recv(c, &y));
    MUST(y == 7);
    filch_case cases[] = {FILCH_CASE_RECV(d, NULL), FILCH_CASE_RECV(c, &y),
                          FILCH_CASE_SEND(NULL, NULL)};
    MUST(NEED(filch_select(cases, 3)) == 1 && y == 0 && cases[1].result == 0);
    MUST(filch_select_until(cases, 3, use_soon()) == -ETIMEDOUT &&
         filch_try_select(cases, 3) == -EAGAIN);
    MUST(filch_select_until(cases, 3, INT64_MIN) == -ETIMEDOUT &&
         filch_try_select(cases, 0) == -EAGAIN);
    MUST(filch_chan_recv_until(c, &y, INT64_MIN) == -ETIMEDOUT &&
         filch_chan_try_recv(c, &y) == -EAGAIN);
    NEED(filch_chan_close(c));
    MUST(filch_chan_close(c) == -EPIPE && filch_chan_recv(c, NULL) == -EPIPE &&
         filch_chan_send(c, &x) == -EPIPE);
    filch_chan_free(c);
    filch_chan_free(d);
    filch_chan_free(NULL);
}

/* ---- locks ---- */

static void use_locks(void)
{
    filch_mutex m = {0};
    filch_rwlock l = {0};
    filch_cond c = {0};

    filch_mutex_lock(&m);
    MUST(filch_mutex_try_lock(&m) == -EAGAIN &&
         filch_mutex_lock_until(&m, use_soon()) == -ETIMEDOUT);
    MUST(filch_mutex_lock_until(&m, INT64_MIN) == -ETIMEDOUT);
    MUST(filch_cond_wait_until(&c, &m, use_soon()) == -ETIMEDOUT);
    MUST(filch_cond_wait_until(&c, &m, INT64_MIN) == -ETIMEDOUT);
    filch_cond_signal(&c);
    filch_cond_broadcast(&c);
    filch_mutex_unlock(&m);
    filch_rwlock_rdlock(&l);
    NEED(filch_rwlock_try_rdlock(&l));
    MUST(filch_rwlock_try_wrlock(&l) == -EAGAIN &&
         filch_rwlock_wrlock_until(&l, use_soon()) == -ETIMEDOUT);
    filch_rwlock_rdunlock(&l);
    filch_rwlock_rdunlock(&l);
    filch_rwlock_wrlock(&l);
    MUST(filch_rwlock_try_rdlock(&l) == -EAGAIN &&
         filch_rwlock_rdlock_until(&l, INT64_MIN) == -ETIMEDOUT);
    filch_rwlock_wrunlock(&l);
}

static void use_counts(void)
{
    filch_sem s = FILCH_SEM_INIT(2);
    filch_wait_group g = {0};
    filch_once o = {{{0, 0, 0, 0}}, NULL, NULL, 0, 0};
    filch_barrier b = {{{0, 0, 0, 0}}, NULL, 0, 0};
    atomic_int n = 0;

    NEED(filch_sem_wait(&s));
    NEED(filch_sem_try_wait(&s));
    MUST(filch_sem_try_wait(&s) == -EAGAIN && filch_sem_wait_until(&s, INT64_MIN) == -ETIMEDOUT);
    filch_sem_post_n(&s, 3);
    filch_sem_post(&s);
    NEED(filch_sem_wait_n_until(&s, 2, use_late()));
    NEED(filch_sem_wait_n(&s, 2));
    MUST(filch_sem_value(&s) == 0);
    filch_wait_group_add(&g, 1);
    MUST(filch_wait_group_wait_until(&g, use_soon()) == -ETIMEDOUT);
    filch_wait_group_done(&g);
    NEED(filch_wait_group_wait(&g));
    filch_once_run(&o, use_count, &n);
    filch_once_run(&o, use_count, &n);
    MUST(n == 1);
    MUST(NEED(filch_barrier_wait(&b, 1)) == 1 &&
         filch_barrier_wait_until(&b, 2, use_soon()) == -ETIMEDOUT);
}

/* ---- files and sockets ---- */

static void use_pipe(void)
{
    int fd[2];
    char c = 'x';

    NEED(filch_pipe(fd));
    MUST(filch_read_until(fd[0], &c, 1, use_soon()) == -ETIMEDOUT &&
         filch_read_until(fd[0], &c, 1, INT64_MIN) == -ETIMEDOUT);
    MUST(filch_wait_fd_until(fd[0], FILCH_READABLE, use_soon()) == -ETIMEDOUT);
    MUST(filch_wait_fd_until(fd[0], FILCH_READABLE, INT64_MIN) == -ETIMEDOUT);
    MUST(filch_wait_fd_until(fd[0], FILCH_READABLE, INT64_MIN + 1) == -ETIMEDOUT);
    MUST(filch_wait_fd_until(fd[1], FILCH_WRITABLE, use_late()) == FILCH_WRITABLE);
    MUST(filch_wait_fd(fd[1], FILCH_WRITABLE) == FILCH_WRITABLE);
    MUST(filch_write_all(fd[1], &c, 1) == 1 && filch_read_all(fd[0], &c, 1) == 1);
    NEED(filch_close(fd[1]));
    NEED(filch_close(fd[0]));
    MUST(filch_read(-1, &c, 1) == -EBADF && filch_write(-1, &c, 1) == -EBADF &&
         filch_close(-1) == -EBADF);
    MUST(filch_wait_fd_until(-1, FILCH_READABLE, use_late()) == -EBADF &&
         filch_accept(-1) == -EBADF);
    MUST(filch_read(1 << 30, &c, 1) == -EBADF && filch_local_port(-1) < 0);
}

static void use_sockets(void)
{
    int s = (int)NEED(filch_listen("127.0.0.1", 0, 4)), client, peer;
    char c = 'y';

    MUST(filch_accept_until(s, use_soon()) == -ETIMEDOUT &&
         filch_accept_until(s, INT64_MIN) == -ETIMEDOUT);
    client =
        (int)NEED(filch_connect_until("127.0.0.1", (int)NEED(filch_local_port(s)), use_late()));
    peer = (int)NEED(filch_accept(s));
    MUST(filch_write_all(client, &c, 1) == 1 && filch_read(peer, &c, 1) == 1 && c == 'y');
    NEED(filch_close(client));
    NEED(filch_close(peer));
    NEED(filch_close(s));
    MUST(filch_listen("127.0.0.1", 70000, 1) < 0 && filch_connect("127.0.0.1", -5) < 0);
}

/* The other side is closed.  In a program that forks, a child may still have it. */
static void use_ends(void)
{
    int fd[2];
    char c = 'z';

    NEED(filch_pipe(fd));
    NEED(filch_close(fd[1]));
    MUST(filch_read(fd[0], &c, 1) == 0);
    NEED(filch_close(fd[0]));
    NEED(filch_socketpair(fd));
    NEED(filch_close(fd[0]));
    MUST(filch_write_all(fd[1], &c, 1) == -EPIPE);
    NEED(filch_close(fd[1]));
}

static int64_t use_call(void *arg)
{
    return (intptr_t)arg;
}

static void use_blocking(void)
{
    MUST(NEED(filch_run_blocking(use_call, (void *)(intptr_t)42)) == 42);
}

/* ---- algorithms ---- */

static void use_mark(size_t lo, size_t hi, void *ctx)
{
    for (size_t i = lo; i < hi; i++)
        ((char *)ctx)[i] = 1;
}

static void use_add(size_t lo, size_t hi, void *acc, void *ctx)
{
    for (size_t i = lo; i < hi; i++)
        *(int *)acc += ((char *)ctx)[i];
}

static void use_join(void *acc, const void *other, void *ctx)
{
    (void)ctx;
    *(int *)acc += *(const int *)other;
}

static void use_algo(void)
{
    char v[500] = {0};
    int sum = 0, zero = 0, w[100];

    filch_for(0, 500, 7, use_mark, v);
    filch_for(5, 5, 0, NULL, NULL);
    NEED(filch_reduce(0, 500, 0, &sum, &zero, sizeof sum, use_add, use_join, v));
    MUST(sum == 500);
    for (int i = 0; i < 100; i++)
        w[i] = 100 - i;
    NEED(filch_sort(w, 100, sizeof w[0], filch_compare_int, NULL));
    MUST(w[0] == 1 && w[99] == 100);
    MUST(filch_sort(w, 1, 0, filch_compare_int, NULL) == -EINVAL &&
         filch_pipeline(NULL, 0, 0) == -EINVAL);
}

static const use uses[] = {
    {"version", use_version}, {"cpus", use_cpus},         {"stats", use_stats},
    {"dump", use_dump},       {"memory", use_memory},     {"task", use_task},
    {"group", use_group},     {"jobs", use_jobs},         {"go", use_go},
    {"fiber", use_fiber},     {"fls", use_fls},           {"keys", use_keys},
    {"time", use_time},       {"chan", use_chan},         {"locks", use_locks},
    {"counts", use_counts},   {"pipe", use_pipe},         {"sockets", use_sockets},
    {"ends", use_ends},       {"blocking", use_blocking}, {"algo", use_algo},
};
#define USES (sizeof uses / sizeof uses[0])

static inline const use *use_called(const char *name)
{
    for (size_t i = 0; i < USES; i++)
        if (strcmp(uses[i].name, name) == 0)
            return &uses[i];
    fprintf(stderr, "victim: unknown use '%s'\n", name);
    exit(2);
}

#endif
