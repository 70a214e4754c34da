/* Worker hooks: called once in the thread of each worker, before and after its work. */
#include "unit/fiber/helpers.h"

#include <sys/syscall.h>
#include <unistd.h>

enum { WORKERS_MAX = 8 };

typedef struct record {
    atomic_int n_started, n_stopped;
    atomic_int starts[WORKERS_MAX], stops[WORKERS_MAX]; /* ids of threads; 0: not called */
    atomic_int n_wrong;
} record;

static _Thread_local int index_of_thread = -1;

static __attribute__((noinline)) int index_by_hook(void)
{
    int index = index_of_thread;

    __asm__ volatile("" : "+r"(index)::"memory");
    return index;
}

static void note(record *r, atomic_int *threads, unsigned index)
{
    int none = 0;

    if (index >= WORKERS_MAX || filch_worker_index() != -1 ||
        !atomic_compare_exchange_strong(&threads[index], &none, (int)syscall(SYS_gettid)))
        atomic_fetch_add(&r->n_wrong, 1);
}

static void on_start(unsigned index, void *ctx)
{
    record *r = ctx;
    void *p = filch_alloc(100);

    filch_free(p, 100);
    note(r, r->starts, index);
    index_of_thread = (int)index;
    atomic_fetch_add(&r->n_started, 1);
}

static void on_stop(unsigned index, void *ctx)
{
    record *r = ctx;

    note(r, r->stops, index);
    if (index_of_thread != (int)index)
        atomic_fetch_add(&r->n_wrong, 1);
    atomic_fetch_add(&r->n_stopped, 1);
}

/* Work finds what the hook of its thread has set. */
static void *check_thread(void *arg)
{
    record *r = arg;

    for (int i = 0; i < 50; i++) {
        if (index_by_hook() != filch_worker_index() ||
            atomic_load(&r->starts[filch_worker_index()]) != (int)syscall(SYS_gettid))
            return (void *)1;
        filch_yield();
    }
    return NULL;
}

FILCH_TASK(int, check_task, record *, r)
{
    return check_thread(r) == NULL;
}

static void run_with_hooks(record *r, unsigned workers)
{
    filch_config c = {.workers = workers, .caller_runs = FILCH_CALLER_RUNS_NO};
    filch_fiber *f[16];

    c.on_worker_start = on_start;
    c.on_worker_stop = on_stop;
    c.worker_ctx = r;
    CHECK_INT(filch_start(&c), 0);
    for (int i = 0; i < 16; i++)
        f[i] = filch_fiber_start(check_thread, r);
    for (int i = 0; i < 16; i++)
        CHECK_INT(join(f[i]), 0);
    CHECK(FILCH_RUN(check_task, r));
    CHECK_INT(atomic_load(&r->n_stopped), 0);
    CHECK_INT(filch_stop(), 0);
}

static void test_hooks(void **state)
{
    (void)state;
    for (unsigned workers = 1; workers <= WORKERS_MAX; workers *= 2) {
        record r = {0};

        run_with_hooks(&r, workers);
        CHECK_INT(atomic_load(&r.n_wrong), 0);
        CHECK_INT(atomic_load(&r.n_started), workers);
        CHECK_INT(atomic_load(&r.n_stopped), workers);
        for (unsigned i = 0; i < workers; i++)
            CHECK_INT(atomic_load(&r.starts[i]), atomic_load(&r.stops[i]));
    }
}

/* A runtime without hooks, or with one of them. */
static void test_one_hook(void **state)
{
    record r = {0};
    filch_config c = {.workers = 2};

    (void)state;
    CHECK_INT(filch_start(&c), 0);
    CHECK_INT(filch_stop(), 0);
    c.on_worker_start = on_start;
    c.worker_ctx = &r;
    CHECK_INT(filch_start(&c), 0);
    CHECK_INT(filch_stop(), 0);
    CHECK_INT(atomic_load(&r.n_started), 2);
    CHECK_INT(atomic_load(&r.n_stopped), 0);
    CHECK_INT(atomic_load(&r.n_wrong), 0);
}

FILCH_TASK(int, tid_task)
{
    return (int)syscall(SYS_gettid);
}

/* A thread that runs its own task as a worker does not call them. */
static void test_caller_runs(void **state)
{
    record r = {0};
    filch_config c = {.workers = 2, .caller_runs = FILCH_CALLER_RUNS_YES};
    int me = (int)syscall(SYS_gettid);

    (void)state;
    c.on_worker_start = on_start;
    c.on_worker_stop = on_stop;
    c.worker_ctx = &r;
    CHECK_INT(filch_start(&c), 0);
    while (FILCH_RUN(tid_task) != me)
        filch_yield();
    CHECK_INT(filch_stop(), 0);
    CHECK_INT(index_by_hook(), -1);
    CHECK_INT(atomic_load(&r.n_started), 2);
    CHECK_INT(atomic_load(&r.n_stopped), 2);
    CHECK_INT(atomic_load(&r.n_wrong), 0);
}

CHECK_MAIN(test_hooks, test_one_hook, test_caller_runs)
