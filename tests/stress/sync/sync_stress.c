/* Fibers on 1, 2, 4 and 8 workers and threads use one object with random calls, some with
 * deadlines. Fibers are cancelled again and again.  Invariants are checked all the time.
 * FILCH_SEED=… repeats the random choices of a run, but not its interleaving. */
#include "unit/sync/helpers.h"

#include "base/rng.h"
#include "seed.h"
#include "stress/must.h"

/* Without a runtime there are THREADS_MORE more threads.  All numbers are even. */
enum { FIBERS = 24, THREADS = 4, THREADS_MORE = 4, ALL = FIBERS + THREADS };

typedef struct caller {
    async_call async_call;
    fi_rng rng;
    int rounds;
} caller;

static caller callers[ALL];

/* Never, in the past, or at most 30 us from now. */
static int64_t some_deadline(fi_rng *r)
{
    uint32_t kind = fi_rng_below(r, 4);

    return kind == 0 ? 0 : kind == 1 ? NEVER : filch_now() + fi_rng_below(r, 30000);
}

static void maybe_yield(fi_rng *r)
{
    if (fi_rng_below(r, 4) == 0)
        filch_yield();
}

/* A cancelled fiber is made cancellable again. */
static bool gave_up(int e)
{
    MUST(e == 0 || e == -ETIMEDOUT || e == -ECANCELED || e == -EAGAIN);
    if (e == -ECANCELED)
        filch_fiber_uncancel();
    return e != 0;
}

static void cancel_random(fi_rng *r)
{
    filch_fiber *f = callers[fi_rng_below(r, ALL)].async_call.fiber;

    if (f)
        filch_fiber_cancel(f);
}

static void cancel_while_any_runs(fi_rng *r)
{
    for (bool any = true; any;) {
        any = false;
        for (int i = 0; i < ALL; i++)
            any |= !atomic_load(&callers[i].async_call.is_over);
        cancel_random(r);
        filch_yield();
    }
}

/* One random step of one caller. */
static void (*step)(fi_rng *r, int index);

static int run_caller(void *arg)
{
    caller *a = arg;

    for (int i = 0; i < a->rounds; i++)
        step(&a->rng, (int)(a - callers));
    return 0;
}

static void run_callers(fi_rng *r, void (*what)(fi_rng *r, int index), int rounds)
{
    bool with_runtime = filch_worker_count() > 0;

    step = what;
    atomic_store(&failed_line, 0);
    memset(callers, 0, sizeof callers);
    for (int i = 0; i < ALL; i++) {
        callers[i].rounds = rounds;
        fi_rng_seed(&callers[i].rng, fi_rng_next(r));
        if (with_runtime && i < FIBERS)
            async_call_start(&callers[i].async_call, run_caller, &callers[i]);
        else if (i >= FIBERS || i < THREADS_MORE)
            async_call_start_thread(&callers[i].async_call, run_caller, &callers[i]);
        else
            atomic_store(&callers[i].async_call.is_over, 2);
    }
    cancel_while_any_runs(r);
    for (int i = 0; i < ALL; i++)
        if (atomic_load(&callers[i].async_call.is_over) == 1)
            async_call_join(&callers[i].async_call);
    CHECK_INT(atomic_load(&failed_line), 0);
}

/* ---- mutex ---- */

static filch_mutex mutex;
static atomic_int inside;
static long sum, sum_wanted;
static atomic_long sum_done;

static int lock_somehow(fi_rng *r)
{
    switch (fi_rng_below(r, 4)) {
    case 0:
        return filch_mutex_try_lock(&mutex);
    case 1:
        return filch_mutex_lock_until(&mutex, some_deadline(r));
    default:
        filch_mutex_lock(&mutex);
        return 0;
    }
}

static void step_mutex(fi_rng *r, int index)
{
    (void)index;
    if (gave_up(lock_somehow(r)))
        return;
    MUST(atomic_fetch_add(&inside, 1) == 0);
    sum++;
    maybe_yield(r);
    MUST(atomic_fetch_sub(&inside, 1) == 1);
    filch_mutex_unlock(&mutex);
    atomic_fetch_add(&sum_done, 1);
}

static void stress_mutex(fi_rng *r)
{
    sum = 0;
    atomic_store(&sum_done, 0);
    run_callers(r, step_mutex, SCALED(2000));
    CHECK_INT(sum, atomic_load(&sum_done));
    CHECK_INT(filch_mutex_try_lock(&mutex), 0);
    filch_mutex_unlock(&mutex);
    CHECK_INT(mutex.state_, 0);
}

/* ---- rwlock ---- */

static filch_rwlock rwlock;
static atomic_int readers, writers;

static int read_somehow(fi_rng *r)
{
    switch (fi_rng_below(r, 3)) {
    case 0:
        return filch_rwlock_try_rdlock(&rwlock);
    case 1:
        return filch_rwlock_rdlock_until(&rwlock, some_deadline(r));
    default:
        filch_rwlock_rdlock(&rwlock);
        return 0;
    }
}

static int write_somehow(fi_rng *r)
{
    switch (fi_rng_below(r, 3)) {
    case 0:
        return filch_rwlock_try_wrlock(&rwlock);
    case 1:
        return filch_rwlock_wrlock_until(&rwlock, some_deadline(r));
    default:
        filch_rwlock_wrlock(&rwlock);
        return 0;
    }
}

static void step_read(fi_rng *r)
{
    if (gave_up(read_somehow(r)))
        return;
    atomic_fetch_add(&readers, 1);
    MUST(atomic_load(&writers) == 0);
    maybe_yield(r);
    MUST(sum == sum_wanted);
    atomic_fetch_sub(&readers, 1);
    filch_rwlock_rdunlock(&rwlock);
}

static void step_write(fi_rng *r)
{
    if (gave_up(write_somehow(r)))
        return;
    MUST(atomic_fetch_add(&writers, 1) == 0);
    MUST(atomic_load(&readers) == 0);
    sum++;
    maybe_yield(r);
    sum_wanted++;
    atomic_fetch_sub(&writers, 1);
    filch_rwlock_wrunlock(&rwlock);
}

static void step_rwlock(fi_rng *r, int index)
{
    (void)index;
    if (fi_rng_below(r, 3) == 0)
        step_write(r);
    else
        step_read(r);
}

static void stress_rwlock(fi_rng *r)
{
    sum = sum_wanted = 0;
    run_callers(r, step_rwlock, SCALED(2000));
    CHECK_INT(sum, sum_wanted);
    CHECK_INT(filch_rwlock_try_wrlock(&rwlock), 0);
    filch_rwlock_wrunlock(&rwlock);
}

/* ---- semaphore ---- */

enum { UNITS = 5 };
static filch_sem sem = FILCH_SEM_INIT(UNITS);
static atomic_int units_out;

static int take_somehow(fi_rng *r, uint32_t n)
{
    if (n > 1)
        return filch_sem_wait_n_until(&sem, n, some_deadline(r));
    switch (fi_rng_below(r, 3)) {
    case 0:
        return filch_sem_try_wait(&sem);
    case 1:
        return filch_sem_wait_until(&sem, some_deadline(r));
    default:
        return filch_sem_wait(&sem);
    }
}

static void step_sem(fi_rng *r, int index)
{
    uint32_t n = 1 + fi_rng_below(r, UNITS);

    (void)index;
    if (gave_up(take_somehow(r, n)))
        return;
    MUST(atomic_fetch_add(&units_out, (int)n) + (int)n <= UNITS);
    maybe_yield(r);
    atomic_fetch_sub(&units_out, (int)n);
    filch_sem_post_n(&sem, n);
}

static void stress_sem(fi_rng *r)
{
    run_callers(r, step_sem, SCALED(1000));
    CHECK_INT(filch_sem_value(&sem), UNITS);
    CHECK_INT(n_waiting(&sem), 0);
}

/* ---- condition: a bounded buffer ---- */

enum { CAPACITY = 3 };
static filch_cond not_full, not_empty;
static int in_buffer; /* under the mutex */

/* Returns: true if an item was put or got; then a waiter of the other kind is signalled. */
static bool put_or_get(fi_rng *r, bool puts)
{
    int e = 0;

    while (e == 0 && in_buffer == (puts ? CAPACITY : 0)) {
        filch_cond *c = puts ? &not_full : &not_empty;
        atomic_fetch_sub(&inside, 1);
        e = fi_rng_below(r, 2) ? filch_cond_wait(c, &mutex)
                               : filch_cond_wait_until(c, &mutex, some_deadline(r));
        MUST(atomic_fetch_add(&inside, 1) == 0);
    }
    if (gave_up(e))
        return false;
    in_buffer += puts ? 1 : -1;
    MUST(in_buffer >= 0 && in_buffer <= CAPACITY);
    return true;
}

static void step_cond(fi_rng *r, int index)
{
    bool puts = index % 2, is_done = false;

    while (!is_done) {
        filch_mutex_lock(&mutex);
        MUST(atomic_fetch_add(&inside, 1) == 0);
        is_done = put_or_get(r, puts);
        atomic_fetch_sub(&inside, 1);
        filch_mutex_unlock(&mutex);
    }
    filch_cond_signal(puts ? &not_empty : &not_full);
}

/* ALL is even, so as many callers put as get. */
static void stress_cond(fi_rng *r)
{
    in_buffer = 0;
    run_callers(r, step_cond, SCALED(1000));
    CHECK_INT(in_buffer, 0);
    CHECK_INT(n_waiting(&not_full) + n_waiting(&not_empty), 0);
}

/* ---- condition: a signal is not lost ---- */

typedef struct pair {
    filch_mutex m;
    filch_cond c;
    int64_t deadline;
} pair;

static int wait_in_pair(void *arg)
{
    pair *p = arg;
    int64_t deadline;
    int e;

    filch_mutex_lock(&p->m);
    deadline = p->deadline;
    e = filch_cond_wait_until(&p->c, &p->m, deadline);
    filch_mutex_unlock(&p->m);
    return e;
}

static int signal_pair(void *arg)
{
    filch_cond_signal(&((pair *)arg)->c);
    return 0;
}

/* If the first waiter is cancelled or times out when the signal comes, the signal wakes the
 * second. */
static void stress_signal(fi_rng *r)
{
    for (int i = 0; i < SCALED(1000); i++) {
        pair p = {.deadline = i % 2 ? NEVER : filch_now() + fi_rng_below(r, 100000)};
        async_call first, second, waker;
        int e;

        async_call_start(&first, wait_in_pair, &p);
        while (n_waiting(&p.c) == 0 && !atomic_load(&first.is_over))
            filch_yield();
        filch_mutex_lock(&p.m);
        p.deadline = NEVER;
        filch_mutex_unlock(&p.m);
        async_call_start(&second, wait_in_pair, &p);
        while (n_waiting(&p.c) < 2 && !atomic_load(&first.is_over))
            filch_yield();
        while (n_waiting(&p.c) == 0)
            filch_yield();
        async_call_start(&waker, signal_pair, &p);
        if (i % 2)
            filch_fiber_cancel(first.fiber);
        e = async_call_join(&first);
        async_call_join(&waker);
        if (e == 0)
            filch_cond_signal(&p.c);
        CHECK_INT(async_call_join(&second), 0);
    }
}

/* ---- event: with auto reset as a lock, with manual reset as a gate ---- */

static filch_event lock_event, gate;

static int take_event(fi_rng *r, filch_event *e)
{
    return fi_rng_below(r, 4) == 0 ? filch_event_try_wait(e)
                                   : filch_event_wait_until(e, some_deadline(r));
}

static void step_event(fi_rng *r, int index)
{
    (void)index;
    if (gave_up(take_event(r, &lock_event)))
        return;
    MUST(atomic_fetch_add(&inside, 1) == 0);
    sum++;
    maybe_yield(r);
    MUST(atomic_fetch_sub(&inside, 1) == 1);
    filch_event_set(&lock_event);
    atomic_fetch_add(&sum_done, 1);
    if (fi_rng_below(r, 2))
        filch_event_reset(&gate);
    maybe_yield(r);
    gave_up(filch_event_wait_until(&gate, filch_now() + fi_rng_below(r, 30000)));
    filch_event_set(&gate);
    gave_up(take_event(r, &gate));
}

static void stress_event(fi_rng *r)
{
    sum = 0;
    atomic_store(&sum_done, 0);
    lock_event = (filch_event)FILCH_EVENT_AUTO_INIT;
    gate = (filch_event)FILCH_EVENT_INIT;
    filch_event_set(&lock_event);
    run_callers(r, step_event, SCALED(1000));
    CHECK_INT(sum, atomic_load(&sum_done));
    CHECK(filch_event_is_set(&lock_event));
    CHECK_INT(n_waiting(&lock_event) + n_waiting(&gate), 0);
}

/* ---- wait group ---- */

static filch_wait_group group;

static void step_wait_group(fi_rng *r, int index)
{
    (void)index;
    filch_wait_group_add(&group, 2);
    maybe_yield(r);
    filch_wait_group_done(&group);
    gave_up(filch_wait_group_wait_until(&group, filch_now() + fi_rng_below(r, 30000)));
    filch_wait_group_done(&group);
    gave_up(filch_wait_group_wait_until(&group, some_deadline(r)));
}

static void stress_wait_group(fi_rng *r)
{
    run_callers(r, step_wait_group, SCALED(1000));
    CHECK_INT(filch_wait_group_wait(&group), 0);
    CHECK_INT(n_waiting(&group), 0);
}

/* ---- once: all callers use the same objects in the same order ---- */

enum { ONCES = 2000 };
static filch_once onces[ONCES];
static long made[ONCES]; /* written by the first caller, read by all */
static atomic_int makes, at_once[ALL];

typedef struct making {
    fi_rng *rng;
    long *made;
} making;

static void make(void *arg)
{
    making *m = arg;

    *m->made = -1;
    maybe_yield(m->rng);
    *m->made = 1;
    atomic_fetch_add(&makes, 1);
}

static void step_once(fi_rng *r, int index)
{
    int i = atomic_fetch_add(&at_once[index], 1);
    making m = {r, &made[i]};

    filch_once_run(&onces[i], make, &m);
    MUST(made[i] == 1);
    if (filch_fiber_is_cancelled())
        filch_fiber_uncancel();
}

static void stress_once(fi_rng *r)
{
    int rounds = SCALED(ONCES);

    memset(onces, 0, sizeof onces);
    memset(made, 0, sizeof made);
    memset(at_once, 0, sizeof at_once);
    atomic_store(&makes, 0);
    run_callers(r, step_once, rounds);
    CHECK_INT(atomic_load(&makes), rounds);
}

/* ---- barrier ---- */

static filch_barrier barrier;
static atomic_int n_running, round_of[ALL], chosen;

/* No caller is more than one round ahead of another. */
static void step_barrier(fi_rng *r, int index)
{
    int n = atomic_load(&n_running), e;
    int mine = atomic_fetch_add(&round_of[index], 1) + 1;

    do {
        maybe_yield(r);
        e = filch_barrier_wait_until(&barrier, (unsigned)n, some_deadline(r));
        MUST(e == 0 || e == 1 || e == -ETIMEDOUT || e == -ECANCELED);
        if (e == -ECANCELED)
            filch_fiber_uncancel();
    } while (e < 0);
    if (e == 1)
        atomic_fetch_add(&chosen, 1);
    for (int i = 0; i < ALL; i++)
        if (atomic_load(&round_of[i]) > 0)
            MUST(atomic_load(&round_of[i]) == mine || atomic_load(&round_of[i]) == mine + 1);
}

static void stress_barrier(fi_rng *r)
{
    int rounds = SCALED(100);

    memset(round_of, 0, sizeof round_of);
    atomic_store(&chosen, 0);
    atomic_store(&n_running, filch_worker_count() > 0 ? ALL : THREADS + THREADS_MORE);
    run_callers(r, step_barrier, rounds);
    CHECK_INT(atomic_load(&chosen), rounds);
    CHECK_INT(barrier.count_, 0);
}

/* ---- all tests ---- */

static fi_rng rng;

#define STRESS(name)                                                                               \
    static void with_workers_##name(void)                                                          \
    {                                                                                              \
        stress_##name(&rng);                                                                       \
    }                                                                                              \
    static void test_##name(void **state)                                                          \
    {                                                                                              \
        (void)state;                                                                               \
        fi_rng_seed(&rng, seed_get());                                                             \
        workers_each(NULL, with_workers_##name);                                                   \
    }

STRESS(mutex)
STRESS(rwlock)
STRESS(sem)
STRESS(cond)
STRESS(signal)
STRESS(event)
STRESS(wait_group)
STRESS(once)
STRESS(barrier)

/* Without a runtime. */
static void test_threads_alone(void **state)
{
    (void)state;
    fi_rng_seed(&rng, seed_get());
    stress_mutex(&rng);
    stress_rwlock(&rng);
    stress_sem(&rng);
    stress_cond(&rng);
    stress_event(&rng);
    stress_wait_group(&rng);
    stress_once(&rng);
    stress_barrier(&rng);
    CHECK_INT(filch_worker_count(), 0);
}

CHECK_MAIN(test_threads_alone, test_mutex, test_rwlock, test_sem, test_cond, test_signal,
           test_event, test_wait_group, test_once, test_barrier)
