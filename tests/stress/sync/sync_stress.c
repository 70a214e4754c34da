/* Storms: fibers on 1, 2, 4 and 8 workers and plain threads use the same thing in every way at random, some with
 * deadlines, and fibers are cancelled again and again.  What must always be so is looked at all the time.  FILCH_SEED=…
 * repeats the choices of a run, though not who comes first. */
#include "unit/sync/helpers.h"

#include "base/rng.h"
#include "seed.h"

/* Of threads there are more where there are no fibers.  All are even numbers. */
enum { FIBERS = 24, THREADS = 4, THREADS_MORE = 4, ALL = FIBERS + THREADS };

typedef struct actor {
    party party;
    fi_rng rng;
    int rounds;
} actor;

static actor actors[ALL];
static atomic_int broken; /* the first line that saw something that must not be */

#define MUST(condition)                                                                            \
    do {                                                                                           \
        int none = 0;                                                                              \
        if (!(condition))                                                                          \
            atomic_compare_exchange_strong(&broken, &none, __LINE__);                              \
    } while (0)

/* Never, in the past, or in up to 30 us. */
static int64_t some_deadline(fi_rng *r)
{
    uint32_t kind = fi_rng_below(r, 4);

    return kind == 0 ? 0 : kind == 1 ? NEVER : filch_now() + fi_rng_below(r, 30000);
}

static void dawdle(fi_rng *r)
{
    if (fi_rng_below(r, 4) == 0)
        filch_yield();
}

/* Who was cancelled can be cancelled again. */
static bool gave_up(int e)
{
    MUST(e == 0 || e == -ETIMEDOUT || e == -ECANCELED || e == -EAGAIN);
    if (e == -ECANCELED)
        filch_fiber_uncancel();
    return e != 0;
}

static void cancel_somebody(fi_rng *r)
{
    filch_fiber *f = actors[fi_rng_below(r, ALL)].party.fiber;

    if (f)
        filch_fiber_cancel(f);
}

static void cancel_while_any_runs(fi_rng *r)
{
    for (bool any = true; any;) {
        any = false;
        for (int i = 0; i < ALL; i++)
            any |= !atomic_load(&actors[i].party.is_over);
        cancel_somebody(r);
        filch_yield();
    }
}

/* One round of one actor. */
static void (*act)(fi_rng *r, int who);

static int play(void *arg)
{
    actor *a = arg;

    for (int i = 0; i < a->rounds; i++)
        act(&a->rng, (int)(a - actors));
    return 0;
}

static void play_all(fi_rng *r, void (*what)(fi_rng *r, int who), int rounds)
{
    bool with_runtime = filch_worker_count() > 0;

    act = what;
    atomic_store(&broken, 0);
    memset(actors, 0, sizeof actors);
    for (int i = 0; i < ALL; i++) {
        actors[i].rounds = rounds;
        fi_rng_seed(&actors[i].rng, fi_rng_next(r));
        if (with_runtime && i < FIBERS)
            party_start(&actors[i].party, play, &actors[i]);
        else if (i >= FIBERS || i < THREADS_MORE)
            party_start_thread(&actors[i].party, play, &actors[i]);
        else
            atomic_store(&actors[i].party.is_over, 2);
    }
    cancel_while_any_runs(r);
    for (int i = 0; i < ALL; i++)
        if (atomic_load(&actors[i].party.is_over) == 1)
            party_end(&actors[i].party);
    CHECK_INT(atomic_load(&broken), 0);
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

static void act_mutex(fi_rng *r, int who)
{
    (void)who;
    if (gave_up(lock_somehow(r)))
        return;
    MUST(atomic_fetch_add(&inside, 1) == 0);
    sum++;
    dawdle(r);
    MUST(atomic_fetch_sub(&inside, 1) == 1);
    filch_mutex_unlock(&mutex);
    atomic_fetch_add(&sum_done, 1);
}

static void storm_mutex(fi_rng *r)
{
    sum = 0;
    atomic_store(&sum_done, 0);
    play_all(r, act_mutex, SCALED(2000));
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

static void act_read(fi_rng *r)
{
    if (gave_up(read_somehow(r)))
        return;
    atomic_fetch_add(&readers, 1);
    MUST(atomic_load(&writers) == 0);
    dawdle(r);
    MUST(sum == sum_wanted);
    atomic_fetch_sub(&readers, 1);
    filch_rwlock_rdunlock(&rwlock);
}

static void act_write(fi_rng *r)
{
    if (gave_up(write_somehow(r)))
        return;
    MUST(atomic_fetch_add(&writers, 1) == 0);
    MUST(atomic_load(&readers) == 0);
    sum++;
    dawdle(r);
    sum_wanted++;
    atomic_fetch_sub(&writers, 1);
    filch_rwlock_wrunlock(&rwlock);
}

static void act_rwlock(fi_rng *r, int who)
{
    (void)who;
    if (fi_rng_below(r, 3) == 0)
        act_write(r);
    else
        act_read(r);
}

static void storm_rwlock(fi_rng *r)
{
    sum = sum_wanted = 0;
    play_all(r, act_rwlock, SCALED(2000));
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

static void act_sem(fi_rng *r, int who)
{
    uint32_t n = 1 + fi_rng_below(r, UNITS);

    (void)who;
    if (gave_up(take_somehow(r, n)))
        return;
    MUST(atomic_fetch_add(&units_out, (int)n) + (int)n <= UNITS);
    dawdle(r);
    atomic_fetch_sub(&units_out, (int)n);
    filch_sem_post_n(&sem, n);
}

static void storm_sem(fi_rng *r)
{
    play_all(r, act_sem, SCALED(1000));
    CHECK_INT(filch_sem_value(&sem), UNITS);
    CHECK_INT(n_waiting(&sem), 0);
}

/* ---- condition: a small buffer; as much comes out as goes in ---- */

enum { ROOM = 3 };
static filch_cond not_full, not_empty;
static int in_buffer; /* under the mutex */

/* True: it is done, and one of the other kind is to be woken.  Who gives up comes again later. */
static bool put_or_get(fi_rng *r, bool puts)
{
    int e = 0;

    while (e == 0 && in_buffer == (puts ? ROOM : 0)) {
        filch_cond *c = puts ? &not_full : &not_empty;
        atomic_fetch_sub(&inside, 1);
        e = fi_rng_below(r, 2) ? filch_cond_wait(c, &mutex)
                               : filch_cond_wait_until(c, &mutex, some_deadline(r));
        MUST(atomic_fetch_add(&inside, 1) == 0);
    }
    if (gave_up(e))
        return false;
    in_buffer += puts ? 1 : -1;
    MUST(in_buffer >= 0 && in_buffer <= ROOM);
    return true;
}

static void act_cond(fi_rng *r, int who)
{
    bool puts = who % 2, is_done = false;

    while (!is_done) {
        filch_mutex_lock(&mutex);
        MUST(atomic_fetch_add(&inside, 1) == 0);
        is_done = put_or_get(r, puts);
        atomic_fetch_sub(&inside, 1);
        filch_mutex_unlock(&mutex);
    }
    filch_cond_signal(puts ? &not_empty : &not_full);
}

/* As many put as get: see ALL. */
static void storm_cond(fi_rng *r)
{
    in_buffer = 0;
    play_all(r, act_cond, SCALED(1000));
    CHECK_INT(in_buffer, 0);
    CHECK_INT(n_waiting(&not_full) + n_waiting(&not_empty), 0);
}

/* ---- condition: one is woken by each signal, or it is not a signal ---- */

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

/* The first is cancelled or late just when the signal comes: then that is the second's. */
static void storm_signal(fi_rng *r)
{
    for (int i = 0; i < SCALED(1000); i++) {
        pair p = {.deadline = i % 2 ? NEVER : filch_now() + fi_rng_below(r, 100000)};
        party first, second, waker;
        int e;

        party_start(&first, wait_in_pair, &p);
        while (n_waiting(&p.c) == 0 && !atomic_load(&first.is_over))
            filch_yield();
        filch_mutex_lock(&p.m);
        p.deadline = NEVER;
        filch_mutex_unlock(&p.m);
        party_start(&second, wait_in_pair, &p);
        while (n_waiting(&p.c) < 2 && !atomic_load(&first.is_over))
            filch_yield();
        while (n_waiting(&p.c) == 0)
            filch_yield();
        party_start(&waker, signal_pair, &p);
        if (i % 2)
            filch_fiber_cancel(first.fiber);
        e = party_end(&first);
        party_end(&waker);
        if (e == 0)
            filch_cond_signal(&p.c);
        CHECK_INT(party_end(&second), 0);
    }
}

/* ---- wait group ---- */

static filch_wait_group group;

static void act_wait_group(fi_rng *r, int who)
{
    (void)who;
    filch_wait_group_add(&group, 2);
    dawdle(r);
    filch_wait_group_done(&group);
    gave_up(filch_wait_group_wait_until(&group, filch_now() + fi_rng_below(r, 30000)));
    filch_wait_group_done(&group);
    gave_up(filch_wait_group_wait_until(&group, some_deadline(r)));
}

static void storm_wait_group(fi_rng *r)
{
    play_all(r, act_wait_group, SCALED(1000));
    CHECK_INT(filch_wait_group_wait(&group), 0);
    CHECK_INT(n_waiting(&group), 0);
}

/* ---- once: all come by the same ones in the same order, and so often at the same time ---- */

enum { ONCES = 2000 };
static filch_once onces[ONCES];
static long made[ONCES]; /* written by who is first, and read by all who come later */
static atomic_int makes, at_once[ALL];

typedef struct making {
    fi_rng *rng;
    long *made;
} making;

static void make(void *arg)
{
    making *m = arg;

    *m->made = -1;
    dawdle(m->rng);
    *m->made = 1;
    atomic_fetch_add(&makes, 1);
}

static void act_once(fi_rng *r, int who)
{
    int i = atomic_fetch_add(&at_once[who], 1);
    making m = {r, &made[i]};

    filch_once_run(&onces[i], make, &m);
    MUST(made[i] == 1);
    if (filch_fiber_is_cancelled())
        filch_fiber_uncancel();
}

static void storm_once(fi_rng *r)
{
    int rounds = SCALED(ONCES);

    memset(onces, 0, sizeof onces);
    memset(made, 0, sizeof made);
    memset(at_once, 0, sizeof at_once);
    atomic_store(&makes, 0);
    play_all(r, act_once, rounds);
    CHECK_INT(atomic_load(&makes), rounds);
}

/* ---- barrier ---- */

static filch_barrier barrier;
static atomic_int playing, round_of[ALL], chosen;

/* Nobody is more than one round ahead of anybody who plays. */
static void act_barrier(fi_rng *r, int who)
{
    int n = atomic_load(&playing), e;
    int mine = atomic_fetch_add(&round_of[who], 1) + 1;

    do {
        dawdle(r);
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

static void storm_barrier(fi_rng *r)
{
    int rounds = SCALED(100);

    memset(round_of, 0, sizeof round_of);
    atomic_store(&chosen, 0);
    atomic_store(&playing, filch_worker_count() > 0 ? ALL : THREADS + THREADS_MORE);
    play_all(r, act_barrier, rounds);
    CHECK_INT(atomic_load(&chosen), rounds);
    CHECK_INT(barrier.count_, 0);
}

/* ---- all ---- */

static fi_rng rng;

#define STORM(name)                                                                                \
    static void with_workers_##name(void)                                                          \
    {                                                                                              \
        storm_##name(&rng);                                                                        \
    }                                                                                              \
    static void test_##name(void **state)                                                          \
    {                                                                                              \
        (void)state;                                                                               \
        fi_rng_seed(&rng, seed_get());                                                             \
        workers_each(NULL, with_workers_##name);                                                   \
    }

STORM(mutex)
STORM(rwlock)
STORM(sem)
STORM(cond)
STORM(signal)
STORM(wait_group)
STORM(once)
STORM(barrier)

/* Before there is a runtime. */
static void test_threads_alone(void **state)
{
    (void)state;
    fi_rng_seed(&rng, seed_get());
    storm_mutex(&rng);
    storm_rwlock(&rng);
    storm_sem(&rng);
    storm_cond(&rng);
    storm_wait_group(&rng);
    storm_once(&rng);
    storm_barrier(&rng);
    CHECK_INT(filch_worker_count(), 0);
}

CHECK_MAIN(test_threads_alone, test_mutex, test_rwlock, test_sem, test_cond, test_signal,
           test_wait_group, test_once, test_barrier)
