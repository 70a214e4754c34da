/* Bound fibers stay on their thread, whatever they wait for and whoever makes them ready. */
#include "child.h"
#include "unit/fiber/helpers.h"

#include "sched/runtime.h"

#include <filch/debug.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { LOAD = 6, MANY = 500, ROUNDS = IS_SLOW ? 2 : 8 };

static const filch_fiber_attr bound = {.bound = true};

/* ---- the thread of the caller ---- */

static _Thread_local int thread_local_value;

static __attribute__((noinline)) int *thread_local_address(void)
{
    int *at = &thread_local_value;

    __asm__ volatile("" : "+r"(at)::"memory");
    return at;
}

/* What a fiber finds at its start.  The compiler may keep the address of the variable, which is
 * right only on the same thread. */
typedef struct place {
    pid_t tid;
    int index;
    int *address;
} place;

static pid_t tid_now(void)
{
    return (pid_t)syscall(SYS_gettid);
}

static place place_now(void)
{
    return (place){tid_now(), filch_worker_index(), &thread_local_value};
}

static bool is_at(const place *p)
{
    return p->tid == tid_now() && p->index == filch_worker_index() &&
           p->address == thread_local_address() && p->address == &thread_local_value;
}

#define EXPECT_FIBER(condition)                                                                    \
    do {                                                                                           \
        if (!(condition))                                                                          \
            return (void *)(intptr_t)__LINE__;                                                     \
    } while (0)
#define STAYS(p) EXPECT(is_at(p))

/* ---- load: other fibers that keep all workers busy and make them steal ---- */

static atomic_int load_stops;

FILCH_TASK(long, load_task, int, n)
{
    if (n < 2)
        return n;
    FILCH_SPAWN(load_task, n - 1);
    long b = FILCH_CALL(load_task, n - 2);
    return b + FILCH_SYNC(load_task);
}

static void *load_body(void *arg)
{
    (void)arg;
    while (!atomic_load(&load_stops)) {
        if (FILCH_RUN(load_task, 8) != 21)
            return (void *)1;
        filch_yield();
    }
    return NULL;
}

static void load_start(filch_fiber **f)
{
    atomic_store(&load_stops, 0);
    for (int i = 0; i < LOAD; i++)
        f[i] = filch_fiber_start(load_body, NULL);
}

static int load_end(filch_fiber **f)
{
    atomic_store(&load_stops, 1);
    for (int i = 0; i < LOAD; i++)
        EXPECT(join(f[i]) == 0);
    return 0;
}

/* ---- every kind of wait ---- */

typedef struct partner {
    filch_chan *there, *back;
    int pipe[2];
} partner;

/* An unbound fiber that answers, and so makes the bound one ready on any worker. */
static void *echo(void *arg)
{
    partner *p = arg;
    int x;

    while (filch_chan_recv(p->there, &x) == 0) {
        char byte = (char)x;
        if (filch_chan_send(p->back, &x) < 0 || filch_write_all(p->pipe[1], &byte, 1) != 1)
            return (void *)1;
    }
    return NULL;
}

static int64_t block_shortly(void *arg)
{
    (void)arg;
    return tid_now();
}

static void do_nothing(void *arg)
{
    filch_yield();
    (void)arg;
}

static int wait_for_time(const place *here)
{
    filch_sem never = FILCH_SEM_INIT(0);

    filch_yield();
    STAYS(here);
    EXPECT(filch_sleep(1000) == 0);
    STAYS(here);
    EXPECT(filch_sem_wait_until(&never, filch_now() + 20000) == -ETIMEDOUT);
    STAYS(here);
    EXPECT(filch_sem_wait_until(&never, 0) == -ETIMEDOUT);
    STAYS(here);
    return 0;
}

static int wait_for_partner(const place *here, partner *p, int i)
{
    char byte;
    int x = i;

    EXPECT(filch_chan_send(p->there, &x) == 0);
    STAYS(here);
    EXPECT(filch_chan_recv(p->back, &x) == 0 && x == i);
    STAYS(here);
    EXPECT(filch_read_all(p->pipe[0], &byte, 1) == 1 && byte == (char)i);
    STAYS(here);
    return 0;
}

static int wait_for_work(const place *here)
{
    filch_group g = FILCH_GROUP_INIT;
    filch_job *j = filch_job_new(do_nothing, NULL);

    EXPECT(j);
    filch_job_submit(j);
    EXPECT(filch_job_wait(j) == 0);
    STAYS(here);
    for (int i = 0; i < 4; i++)
        filch_group_run(&g, do_nothing, NULL);
    filch_group_wait(&g);
    STAYS(here);
    EXPECT(FILCH_RUN(load_task, 12) == 144);
    STAYS(here);
    EXPECT(join(filch_fiber_start(same, NULL)) == 0);
    STAYS(here);
    EXPECT(join(filch_fiber_start_attr(&bound, same, NULL)) == 0);
    STAYS(here);
    EXPECT(filch_run_blocking(block_shortly, NULL) != tid_now());
    STAYS(here);
    return 0;
}

static int wait_in_all_ways(const place *here, partner *p)
{
    for (int i = 0; i < ROUNDS; i++) {
        int line = wait_for_time(here);
        if (line == 0)
            line = wait_for_partner(here, p, i);
        if (line == 0)
            line = wait_for_work(here);
        EXPECT(line == 0 || (fprintf(stderr, "line %d\n", line), false));
    }
    return 0;
}

static void *bound_body(void *arg)
{
    place here = place_now();
    partner p = {filch_chan_new(sizeof(int), 0), filch_chan_new(sizeof(int), 0), {-1, -1}};
    filch_fiber *e;
    intptr_t line = __LINE__;

    (void)arg;
    if (!p.there || !p.back || filch_pipe(p.pipe) < 0)
        return (void *)line;
    e = filch_fiber_start(echo, &p);
    line = wait_in_all_ways(&here, &p);
    filch_chan_close(p.there);
    if (join(e) != 0)
        line = __LINE__;
    filch_chan_free(p.there);
    filch_chan_free(p.back);
    filch_close(p.pipe[0]);
    filch_close(p.pipe[1]);
    return (void *)(is_at(&here) ? line : __LINE__);
}

static int all_waits(void)
{
    filch_fiber *load[LOAD], *f[4];

    load_start(load);
    for (int i = 0; i < 4; i++)
        f[i] = filch_fiber_start_attr(&bound, bound_body, NULL);
    for (int i = 0; i < 4; i++)
        EXPECT(join(f[i]) == 0);
    return load_end(load);
}
FROM_THREAD(all_waits)

/* ---- many ---- */

typedef struct crowd {
    filch_mutex mutex;
    filch_sem sem;
    filch_wait_group alive;
    atomic_int n_right, n_of[8];
} crowd;

static int crowd_member(const place *here, crowd *c)
{
    for (int i = 0; i < 4; i++) {
        filch_mutex_lock(&c->mutex);
        STAYS(here);
        filch_yield();
        STAYS(here);
        filch_mutex_unlock(&c->mutex);
        EXPECT(filch_sem_wait(&c->sem) == 0);
        STAYS(here);
        filch_sem_post(&c->sem);
        EXPECT(filch_sleep(1000) == 0);
        STAYS(here);
    }
    return 0;
}

static void crowd_body(void *arg)
{
    place here = place_now();
    crowd *c = arg;

    atomic_fetch_add(&c->n_of[here.index], 1);
    filch_wait_group_done(&c->alive);
    filch_wait_group_wait(&c->alive);
    if (is_at(&here) && crowd_member(&here, c) == 0)
        atomic_fetch_add(&c->n_right, 1);
}

/* All of them are alive at the same time, so each worker has its share. */
static int many(void)
{
    unsigned workers = filch_worker_count(), n = (unsigned)SCALED(MANY) / workers * workers;
    crowd c = {0};

    filch_sem_post_n(&c.sem, 3);
    filch_wait_group_add(&c.alive, n);
    for (unsigned i = 0; i < n; i++)
        EXPECT(filch_go_attr(&bound, crowd_body, &c) == 0);
    filch_wait_group_wait(&c.alive);
    for (unsigned i = 0; i < workers; i++)
        EXPECT(atomic_load(&c.n_of[i]) == (int)(n / workers));
    await_count(&c.n_right, (int)n);
    return 0;
}
FROM_THREAD(many)

/* ---- yields, beside unbound fibers that are stolen ---- */

static void yield_some(void *alive)
{
    for (int i = 0; i < 20; i++)
        filch_yield();
    filch_wait_group_done(alive);
}

/* Other workers have nothing to do, and steal from the worker of this fiber. */
static void *yield_often(void *arg)
{
    place here = place_now();
    filch_wait_group alive = {0};

    (void)arg;
    for (int i = 0; i < SCALED(500); i++) {
        filch_wait_group_add(&alive, 4);
        for (int k = 0; k < 4; k++)
            EXPECT_FIBER(filch_go(yield_some, &alive) == 0);
        for (int k = 0; k < 10; k++) {
            filch_yield();
            EXPECT_FIBER(is_at(&here));
        }
        filch_wait_group_wait(&alive);
        EXPECT_FIBER(is_at(&here));
    }
    return NULL;
}

static int yields(void)
{
    EXPECT(join(filch_fiber_start_attr(&bound, yield_often, NULL)) == 0);
    return 0;
}
FROM_THREAD(yields)

/* ---- cancellation ---- */

static void *cancelled_body(void *sem)
{
    place here = place_now();

    EXPECT_FIBER(filch_sem_wait(sem) == -ECANCELED);
    EXPECT_FIBER(is_at(&here));
    EXPECT_FIBER(filch_sleep(INT64_MAX) == -ECANCELED);
    EXPECT_FIBER(is_at(&here));
    EXPECT_FIBER(filch_fiber_uncancel());
    EXPECT_FIBER(filch_sleep(1000) == 0);
    EXPECT_FIBER(is_at(&here));
    return NULL;
}

static int cancel(void)
{
    filch_sem never = {0};
    filch_fiber *f = filch_fiber_start_attr(&bound, cancelled_body, &never);

    await_waiting(&never, 1);
    filch_fiber_cancel(f);
    EXPECT(join(f) == 0);
    return 0;
}
FROM_THREAD(cancel)

/* Wait until no worker has a bound fiber.  A fiber that is joined may not have left its worker. */
static void await_none_bound(void)
{
    fi_runtime *rt = fi_runtime_lock_running();

    fi_runtime_unlock_running();
    for (unsigned i = 0; i < rt->n_workers; i++)
        while (fi_load_relaxed(&rt->workers[i].sleeper.n_bound) > 0)
            filch_yield();
}

/* ---- caller-runs ---- */

static void *tid_of_bound(void *arg)
{
    place here = place_now();

    for (int i = 0; i < 20; i++) {
        filch_yield();
        if (!is_at(&here))
            return (void *)-1;
    }
    return arg ? NULL : (void *)(intptr_t)here.tid;
}

/* In a thread that runs its task as a worker.  The bound fiber may be for that worker.  The thread
 * runs the functions of the group, and looks for work at the end of each. */
FILCH_TASK(int, root_task, pid_t, caller)
{
    for (int i = 0; i < 10; i++) {
        filch_fiber *f = filch_fiber_start_attr(&bound, tid_of_bound, NULL);
        filch_group g = FILCH_GROUP_INIT;
        intptr_t tid;

        for (int k = 0; k < 8; k++)
            filch_group_run(&g, do_nothing, NULL);
        filch_group_wait(&g);
        tid = join(f);
        EXPECT(tid > 0 && tid != caller);
    }
    return 0;
}

static void *run_root(void *arg)
{
    (void)arg;
    for (int i = 0; i < 10; i++)
        EXPECT_FIBER(FILCH_RUN(root_task, tid_now()) == 0);
    return NULL;
}

static int caller_runs(void)
{
    pthread_t threads[3];
    void *line = NULL;

    for (int i = 0; i < 3; i++)
        EXPECT(pthread_create(&threads[i], NULL, run_root, NULL) == 0);
    for (int i = 0; i < 10; i++)
        EXPECT(FILCH_RUN(root_task, tid_now()) == 0);
    for (int i = 0; i < 3; i++) {
        pthread_join(threads[i], &line);
        EXPECT((intptr_t)line == 0);
    }
    await_none_bound();
    return 0;
}
FROM_THREAD(caller_runs)

/* A worker with a bound fiber is not lent: the fiber answers while a caller does not wait. */
static void *post_answer(void *arg)
{
    filch_sem *s = arg;
    place here = place_now();

    while (filch_sem_wait(&s[0]) == 0) {
        if (!is_at(&here))
            return (void *)1;
        filch_sem_post(&s[1]);
    }
    return NULL;
}

FILCH_TASK(int, ask_without_wait, filch_sem *, s, pid_t, caller)
{
    filch_sem_post(&s[0]);
    while (filch_sem_try_wait(&s[1]) < 0)
        if (tid_now() != caller)
            filch_yield(); /* this worker may be that of the bound fiber */
    return 0;
}

static int answers(void)
{
    filch_sem s[2] = {FILCH_SEM_INIT(0), FILCH_SEM_INIT(0)};
    filch_fiber *f = filch_fiber_start_attr(&bound, post_answer, s);

    EXPECT(f);
    for (int i = 0; i < 50; i++)
        EXPECT(FILCH_RUN(ask_without_wait, s, tid_now()) == 0);
    filch_fiber_cancel(f);
    EXPECT(join(f) == 0);
    return 0;
}
FROM_THREAD(answers)

static void *answer_body(void *arg)
{
    filch_chan *const *c = arg;
    place here = place_now();
    int x;

    while (filch_chan_recv(c[0], &x) == 0)
        if (!is_at(&here) || filch_chan_send(c[1], &x) < 0)
            return (void *)1;
    return NULL;
}

FILCH_TASK(int, ask_from_task, filch_chan **, c)
{
    int x = 7;

    for (int i = 0; i < 100; i++) {
        EXPECT(filch_chan_send(c[0], &x) == 0);
        EXPECT(filch_chan_recv(c[1], &x) == 0 && x == 7);
    }
    return 0;
}

static int not_lent(void)
{
    filch_chan *c[2] = {filch_chan_new(sizeof(int), 0), filch_chan_new(sizeof(int), 0)};
    filch_fiber *f = filch_fiber_start_attr(&bound, answer_body, c);

    EXPECT(f);
    for (int i = 0; i < 10; i++)
        EXPECT(FILCH_RUN(ask_from_task, c) == 0);
    filch_chan_close(c[0]);
    EXPECT(join(f) == 0);
    filch_chan_free(c[0]);
    filch_chan_free(c[1]);
    return 0;
}
FROM_THREAD(not_lent)

/* ---- fairness ---- */

static void *yield_until(void *flag)
{
    place here = place_now();

    while (!atomic_load((atomic_int *)flag))
        filch_yield();
    return is_at(&here) ? NULL : (void *)1;
}

static void *unbound_yield_until(void *flag)
{
    while (!atomic_load((atomic_int *)flag))
        filch_yield();
    return NULL;
}

static void *set_flag(void *flag)
{
    atomic_store((atomic_int *)flag, 1);
    return NULL;
}

/* Fibers that only yield, bound or not, do not keep others from running, bound or not. */
static int fairness(void)
{
    for (int k = 0; k < 4; k++) {
        const filch_fiber_attr unbound = {0}, *first = k & 1 ? &bound : &unbound;
        atomic_int flag = 0;
        filch_fiber *f[16];

        for (int i = 0; i < 16; i++)
            f[i] = filch_fiber_start_attr(first, first->bound ? yield_until : unbound_yield_until,
                                          &flag);
        EXPECT(join(filch_fiber_start_attr(k & 2 ? &bound : &unbound, set_flag, &flag)) == 0);
        for (int i = 0; i < 16; i++)
            EXPECT(join(f[i]) == 0);
    }
    return 0;
}
FROM_THREAD(fairness)

typedef struct chain {
    atomic_int stops;
    filch_group all;
} chain;

static void next_of_chain(void *arg)
{
    chain *c = arg;
    filch_job *j;

    if (atomic_load(&c->stops))
        return;
    j = filch_job_new(next_of_chain, c);
    filch_job_set_priority(j, FILCH_PRIORITY_HIGH);
    filch_job_set_group(j, &c->all);
    filch_job_submit(j);
}

/* An endless chain of high-priority jobs on each worker. */
static int priorities(void)
{
    chain c = {0};

    for (unsigned i = 0; i < 2 * filch_worker_count(); i++)
        next_of_chain(&c);
    for (int i = 0; i < (IS_SLOW ? 1 : 3); i++)
        EXPECT(join(filch_fiber_start_attr(&bound, tid_of_bound, (void *)1)) == 0);
    atomic_store(&c.stops, 1);
    filch_group_wait(&c.all);
    return 0;
}
FROM_THREAD(priorities)

/* ---- the end ---- */

static atomic_int n_destroyed;

static void destroy_value(void *value)
{
    place *p = value;

    filch_yield();
    filch_sleep(1000);
    if (is_at(p))
        atomic_fetch_add(&n_destroyed, 1);
    free(p);
}

static void set_value(void *key)
{
    place *p = malloc(sizeof *p);

    filch_yield();
    *p = place_now();
    filch_fls_set((int)(intptr_t)key, p);
}

static void *set_value_joinable(void *key)
{
    set_value(key);
    return NULL;
}

static int destructors(void)
{
    int key = filch_fls_new(destroy_value);

    EXPECT(key >= 0);
    atomic_store(&n_destroyed, 0);
    for (int i = 0; i < 8; i++) {
        EXPECT(filch_go_attr(&bound, set_value, (void *)(intptr_t)key) == 0);
        EXPECT(join(filch_fiber_start_attr(&bound, set_value_joinable, (void *)(intptr_t)key)) ==
               0);
    }
    await_count(&n_destroyed, 16);
    return filch_fls_free(key);
}
FROM_THREAD(destructors)

/* After the bound fibers have ended, the workers are lent again. */
FILCH_TASK(int, tid_task)
{
    return (int)tid_now();
}

static int lent_again(void)
{
    EXPECT(join(filch_fiber_start_attr(&bound, same, NULL)) == 0);
    await_none_bound();
    while (FILCH_RUN(tid_task) != tid_now())
        filch_yield();
    return 0;
}
FROM_THREAD(lent_again)

/* A stop waits for parked bound fibers, and for those that have not started. */
static atomic_int n_ended;

static void sleep_bound(void *arg)
{
    place here = place_now();

    (void)arg;
    filch_sleep(2000000);
    if (is_at(&here))
        atomic_fetch_add(&n_ended, 1);
}

static void test_stop(void **state)
{
    (void)state;
    for (unsigned workers = 1; workers <= 4; workers *= 2) {
        filch_config c = {.workers = workers};

        atomic_store(&n_ended, 0);
        CHECK_INT(filch_start(&c), 0);
        for (int i = 0; i < 20; i++)
            CHECK_INT(filch_go_attr(&bound, sleep_bound, NULL), 0);
        CHECK_INT(filch_stop(), 0);
        CHECK_INT(atomic_load(&n_ended), 20);
    }
}

/* ---- debugging ---- */

static void dump_in_child(void *arg)
{
    filch_config c = {.workers = 1};
    filch_sem never = {0};

    (void)arg;
    filch_start(&c);
    filch_fiber_start_attr(&bound, wait_for_sem, &never);
    await_waiting(&never, 1);
    filch_dump(STDERR_FILENO);
    _exit(0);
}

static void test_dump(void **state)
{
    struct child_end end;

    (void)state;
    CHECK_INT(child_end_of(&end, dump_in_child, NULL), 0);
    CHECK(strstr(end.text, " ms, bound to worker 0\n"));
}

static void fork_in_child(void *arg)
{
    pid_t child = fork();
    int status = -1;

    (void)arg;
    if (child == 0) {
        filch_yield();
        return; /* the child ends with status 0 */
    }
    if (waitpid(child, &status, 0) != child || status != 0)
        abort();
}

static void test_fork(void **state)
{
    (void)state;
    CHECK_INT(filch_go_attr(&bound, fork_in_child, NULL), 0);
    CHECK_INT(filch_stop(), 0);
}

CHECK_MAIN(test_all_waits, test_many, test_yields, test_cancel, test_caller_runs, test_answers,
           test_not_lent, test_fairness, test_priorities, test_destructors, test_lent_again,
           test_stop, test_dump, test_fork)
