/* The table of filch-cancel(7): waits for fibers, channels, locks, groups, jobs, strands and
 * timers.  tests/unit/io/io_cancel.c has those of files and sockets. */
#include "unit/job/cancel_rows.h"

#include <filch/algo.h>
#include <filch/chan.h>
#include <filch/strand.h>
#include <filch/sync.h>
#include <filch/task.h>

static filch_chan *chan;
static filch_sem sem;
static filch_mutex mutex, cond_mutex;
static filch_cond cond;
static filch_rwlock rwlock;
static filch_wait_group wait_group;
static filch_barrier barrier;
static filch_event event;
static filch_fiber *sleeper;

/* ---- waits that return -ECANCELED ---- */

static const int item = 1;
static int received;

#define CASE                                                                                       \
    (filch_case[])                                                                                 \
    {                                                                                              \
        FILCH_CASE_RECV(chan, &received)                                                           \
    }

WAIT(sleep_long, filch_sleep(FILCH_S(30)))
WAIT(sleep_until, filch_sleep_until(LATE))
WAIT(join_sleeper, filch_fiber_join(sleeper, NULL))
WAIT(join_sleeper_until, filch_fiber_join_until(sleeper, NULL, LATE))
WAIT(send_item, filch_chan_send(chan, &item))
WAIT(send_item_until, filch_chan_send_until(chan, &item, LATE))
WAIT(receive_item, filch_chan_recv(chan, &received))
WAIT(receive_item_until, filch_chan_recv_until(chan, &received, LATE))
WAIT(select_receive, filch_select(CASE, 1))
WAIT(select_receive_until, filch_select_until(CASE, 1, LATE))
WAIT(wait_sem, filch_sem_wait(&sem))
WAIT(wait_sem_until, filch_sem_wait_until(&sem, LATE))
WAIT(wait_sem_n, filch_sem_wait_n(&sem, 2))
WAIT(wait_sem_n_until, filch_sem_wait_n_until(&sem, 2, LATE))
WAIT(wait_wait_group, filch_wait_group_wait(&wait_group))
WAIT(wait_wait_group_until, filch_wait_group_wait_until(&wait_group, LATE))
WAIT(wait_event, filch_event_wait(&event))
WAIT(wait_event_until, filch_event_wait_until(&event, LATE))
WAIT(wait_barrier, filch_barrier_wait(&barrier, 2))
WAIT(wait_barrier_until, filch_barrier_wait_until(&barrier, 2, LATE))
WAIT(lock_mutex_until, filch_mutex_lock_until(&mutex, LATE))
WAIT(rdlock_until, filch_rwlock_rdlock_until(&rwlock, LATE))
WAIT(wrlock_until, filch_rwlock_wrlock_until(&rwlock, LATE))

/* Unlocking a mutex that is not locked would abort the program. */
static int wait_cond_deadline(int64_t deadline)
{
    int e;

    filch_mutex_lock(&cond_mutex);
    e = deadline == FILCH_FOREVER ? filch_cond_wait(&cond, &cond_mutex)
                                  : filch_cond_wait_until(&cond, &cond_mutex, deadline);
    filch_mutex_unlock(&cond_mutex);
    return e;
}

WAIT(wait_cond, wait_cond_deadline(FILCH_FOREVER))
WAIT(wait_cond_until, wait_cond_deadline(LATE))

/* ---- waits that pass the cancellation on, and last until the functions have returned ---- */

static atomic_int n_begun, n_interrupted, n_returned;

static int sleep_in_work(void *arg)
{
    (void)arg;
    atomic_fetch_add(&n_begun, 1);
    if (filch_sleep(FILCH_S(30)) == -ECANCELED)
        atomic_fetch_add(&n_interrupted, 1);
    for (int i = 0; i < 3; i++)
        filch_yield();
    atomic_fetch_add(&n_returned, 1);
    return -ECANCELED;
}

static void reset_counts(void)
{
    atomic_store(&n_begun, 0);
    atomic_store(&n_interrupted, 0);
    atomic_store(&n_returned, 0);
}

/* n: functions that must have run; 0: they may be dropped. */
static int result_of(int n, int result)
{
    int begun = atomic_load(&n_begun);

    return begun >= n && atomic_load(&n_interrupted) == begun && atomic_load(&n_returned) == begun
               ? result
               : -EPROTO;
}

static int wait_for_group_deadline(int64_t deadline)
{
    filch_group g = FILCH_GROUP_INIT;

    reset_counts();
    for (int i = 0; i < 3; i++)
        filch_group_run_fallible(&g, sleep_in_work, NULL);
    return result_of(0, deadline == FILCH_FOREVER ? filch_group_wait(&g)
                                                  : filch_group_wait_until(&g, deadline));
}

static int wait_for_job_deadline(int64_t deadline)
{
    filch_job *j = filch_job_new_fallible(sleep_in_work, NULL);

    reset_counts();
    filch_job_submit(j);
    return result_of(0, deadline == FILCH_FOREVER ? filch_job_wait(j)
                                                  : filch_job_wait_until(j, deadline));
}

WAIT(wait_for_group, wait_for_group_deadline(FILCH_FOREVER))
WAIT(wait_for_group_until, wait_for_group_deadline(LATE))
WAIT(wait_for_job, wait_for_job_deadline(FILCH_FOREVER))
WAIT(wait_for_job_until, wait_for_job_deadline(LATE))

static void sleep_in_function(void)
{
    sleep_in_work(NULL);
}

static int invoke(void)
{
    reset_counts();
    filch_invoke(sleep_in_function, sleep_in_function, sleep_in_function);
    return result_of(3, -ECANCELED);
}

static void sleep_in_loop(size_t lo, size_t hi, void *ctx)
{
    for (; lo < hi; lo++)
        sleep_in_work(ctx);
}

static int run_loop(void)
{
    reset_counts();
    filch_for(0, 3, 1, sleep_in_loop, NULL);
    return result_of(3, -ECANCELED);
}

/* The first stage creates three items. */
static void *create_item(void *none, void *created)
{
    int *n = created;

    (void)none;
    return ++*n <= 3 ? n : NULL;
}

static void *sleep_in_stage(void *stage_item, void *ctx)
{
    sleep_in_work(ctx);
    return stage_item;
}

static int run_pipeline(void)
{
    int created = 0, e;
    filch_stage stages[] = {{FILCH_STAGE_SERIAL, create_item, &created},
                            {FILCH_STAGE_PARALLEL, sleep_in_stage, NULL}};

    reset_counts();
    e = filch_pipeline(stages, 2, 3);
    return e < 0 ? e : result_of(3, -ECANCELED);
}

FILCH_TASK(int, sleep_in_task, int, ignored)
{
    (void)ignored;
    return sleep_in_work(NULL);
}

FILCH_TASK(int, sync_tasks)
{
    FILCH_SPAWN(sleep_in_task, 1);
    FILCH_SPAWN(sleep_in_task, 2);
    FILCH_CALL(sleep_in_task, 3);
    FILCH_SYNC(sleep_in_task);
    return FILCH_SYNC(sleep_in_task);
}

static int sync_in_task(void)
{
    int e;

    reset_counts();
    e = FILCH_RUN(sync_tasks);
    return result_of(3, e);
}

/* ---- waits that are not interrupted ---- */

static void hold_locks(void)
{
    filch_mutex_lock(&mutex);
    filch_rwlock_wrlock(&rwlock);
}

static void release_locks(void)
{
    filch_mutex_unlock(&mutex);
    filch_rwlock_wrunlock(&rwlock);
}

static int lock_mutex(void)
{
    filch_mutex_lock(&mutex);
    filch_mutex_unlock(&mutex);
    return 0;
}

static int rdlock(void)
{
    filch_rwlock_rdlock(&rwlock);
    filch_rwlock_rdunlock(&rwlock);
    return 0;
}

static int wrlock(void)
{
    filch_rwlock_wrlock(&rwlock);
    filch_rwlock_wrunlock(&rwlock);
    return 0;
}

/* A function that runs until the gate is opened: of a once, a strand, a timer or a ticker. */
static filch_sem gate;
static atomic_bool is_running;
static filch_once once;
static filch_strand strand;
static filch_timer timer;
static filch_ticker ticker;

static void run_until_gate(void *arg)
{
    (void)arg;
    atomic_store(&is_running, true);
    filch_sem_wait(&gate);
    atomic_store(&is_running, false);
}

static void open_gate(void)
{
    filch_sem_post(&gate);
}

static void await_running(void)
{
    while (!atomic_load(&is_running))
        filch_yield();
}

static void run_once(void *arg)
{
    filch_once_run(&once, run_until_gate, arg);
}

static void hold_once(void)
{
    once = (filch_once){0};
    filch_go(run_once, NULL);
    await_running();
}

static void hold_strand(void)
{
    filch_strand_stop(&strand);
    strand = (filch_strand)FILCH_STRAND_INIT;
    filch_strand_run(&strand, run_until_gate, NULL);
    await_running();
}

static void hold_timer(void)
{
    filch_timer_start(&timer, 0, run_until_gate, NULL);
    await_running();
}

static void hold_ticker(void)
{
    filch_ticker_start(&ticker, 0, FILCH_S(30), run_until_gate, NULL);
    await_running();
}

/* Returns 0 if the function has returned. */
static int if_not_running(int result)
{
    return atomic_load(&is_running) ? -EBUSY : result;
}

static int wait_once(void)
{
    filch_once_run(&once, run_until_gate, NULL);
    return if_not_running(0);
}

WAIT(call_strand, filch_strand_call(&strand, nothing, NULL))
WAIT(wait_strand, filch_strand_wait(&strand))
WAIT(stop_strand, filch_strand_stop(&strand))
WAIT(stop_timer, if_not_running(filch_timer_stop_wait(&timer)))
WAIT(stop_ticker, if_not_running(filch_ticker_stop(&ticker) == 1 ? 0 : -EIO))

static const row rows[] = {
    {"filch_sleep", sleep_long, true, 0, 0},
    {"filch_sleep_until", sleep_until, true, 0, 0},
    {"filch_fiber_join", join_sleeper, true, 0, 0},
    {"filch_fiber_join_until", join_sleeper_until, true, 0, 0},
    {"filch_chan_send", send_item, true, 0, 0},
    {"filch_chan_send_until", send_item_until, true, 0, 0},
    {"filch_chan_recv", receive_item, true, 0, 0},
    {"filch_chan_recv_until", receive_item_until, true, 0, 0},
    {"filch_select", select_receive, true, 0, 0},
    {"filch_select_until", select_receive_until, true, 0, 0},
    {"filch_sem_wait", wait_sem, true, 0, 0},
    {"filch_sem_wait_until", wait_sem_until, true, 0, 0},
    {"filch_sem_wait_n", wait_sem_n, true, 0, 0},
    {"filch_sem_wait_n_until", wait_sem_n_until, true, 0, 0},
    {"filch_cond_wait", wait_cond, true, 0, 0},
    {"filch_cond_wait_until", wait_cond_until, true, 0, 0},
    {"filch_wait_group_wait", wait_wait_group, true, 0, 0},
    {"filch_wait_group_wait_until", wait_wait_group_until, true, 0, 0},
    {"filch_event_wait", wait_event, true, 0, 0},
    {"filch_event_wait_until", wait_event_until, true, 0, 0},
    {"filch_barrier_wait", wait_barrier, true, 0, 0},
    {"filch_barrier_wait_until", wait_barrier_until, true, 0, 0},
    {"filch_mutex_lock_until", lock_mutex_until, true, hold_locks, release_locks},
    {"filch_rwlock_rdlock_until", rdlock_until, true, hold_locks, release_locks},
    {"filch_rwlock_wrlock_until", wrlock_until, true, hold_locks, release_locks},
    {"filch_group_wait", wait_for_group, true, 0, 0},
    {"filch_group_wait_until", wait_for_group_until, true, 0, 0},
    {"filch_job_wait", wait_for_job, true, 0, 0},
    {"filch_job_wait_until", wait_for_job_until, true, 0, 0},
    {"filch_invoke", invoke, true, 0, 0},
    {"filch_pipeline", run_pipeline, true, 0, 0},
    {"loops", run_loop, true, 0, 0},
    {"FILCH_SYNC", sync_in_task, true, 0, 0},
    {"filch_mutex_lock", lock_mutex, false, hold_locks, release_locks},
    {"filch_rwlock_rdlock", rdlock, false, hold_locks, release_locks},
    {"filch_rwlock_wrlock", wrlock, false, hold_locks, release_locks},
    {"filch_once_run", wait_once, false, hold_once, open_gate},
    {"filch_strand_call", call_strand, false, hold_strand, open_gate},
    {"filch_strand_wait", wait_strand, false, hold_strand, open_gate},
    {"filch_strand_stop", stop_strand, false, hold_strand, open_gate},
    {"filch_timer_stop_wait", stop_timer, false, hold_timer, open_gate},
    {"filch_ticker_stop", stop_ticker, false, hold_ticker, open_gate},
};

/* ---- */

/* The waits that were interrupted have changed nothing. */
static bool is_unchanged(void)
{
    return filch_chan_try_recv(chan, &received) == -EAGAIN &&
           filch_chan_try_send(chan, &item) == -EAGAIN && filch_sem_value(&sem) == 0 &&
           !filch_event_is_set(&event) && filch_barrier_wait_until(&barrier, 2, 0) == -ETIMEDOUT;
}

static void *check_rows(void *arg)
{
    intptr_t wrong;

    (void)arg;
    sleeper = filch_fiber_start(row_run_fiber,
                                &(waiting){.row = &(const row){"sleeper", sleep_long, true, 0, 0}});
    wrong = rows_check(rows, sizeof rows / sizeof *rows);
    filch_fiber_cancel(sleeper);
    wrong += filch_fiber_join(sleeper, NULL) != 0; /* the handle is still valid */
    wrong += !is_unchanged();
    return (void *)wrong;
}

static void table(void)
{
    void *wrong = (void *)1;

    chan = filch_chan_new(sizeof(int), 0);
    filch_wait_group_add(&wait_group, 1);
    filch_fiber_join(filch_fiber_start(check_rows, NULL), &wrong);
    CHECK_INT((intptr_t)wrong, 0);
    filch_wait_group_done(&wait_group);
    filch_chan_free(chan);
}

WITH_WORKERS(table)

CHECK_MAIN(test_table)
