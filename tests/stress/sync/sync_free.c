/* A woken waiter frees the object while the call that woke it is still inside, as <filch/sync.h>
 * and <filch/job.h> allow.  AddressSanitizer detects a use after free.  In other builds freed
 * memory is overwritten, and the test hangs or crashes.  FILCH_SEED=... repeats a run's
 * settings. */
#include "unit/task/helpers.h"

#include "base/rng.h"
#include "seed.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

typedef struct object object;

typedef struct kind {
    const char *name;
    void (*release)(object *o);
    void (*wait)(object *o, int64_t deadline); /* and free the object, unless the other call does */
} kind;

struct object {
    const kind *kind;
    filch_mutex mutex;
    filch_rwlock rwlock;
    filch_cond cond;
    filch_sem sem;
    filch_event event;
    filch_wait_group wait_group;
    filch_barrier barrier;
    filch_group group;
    int users; /* under the mutex, or the rwlock */
    bool is_set;
};

/* Volatile, because a compiler removes stores before a free. */
static void *(*volatile fill)(void *, int, size_t) = memset;

static void let_go_of(object *o)
{
    fill(o, 0xa5, sizeof *o);
    free(o);
}

static object *new_object(const kind *k)
{
    object *o = calloc(1, sizeof *o);

    if (!o)
        abort();
    o->kind = k;
    o->users = 2;
    o->event.auto_reset_ = (uintptr_t)o / 64 % 2;
    filch_wait_group_add(&o->wait_group, 1);
    return o;
}

/* ---- the waiting and the waking call of each object ---- */

static void post(object *o)
{
    filch_sem_post(&o->sem);
}

static void wait_for_post(object *o, int64_t deadline)
{
    if (filch_sem_wait_until(&o->sem, deadline) != 0)
        abort();
    let_go_of(o);
}

static void set(object *o)
{
    filch_event_set(&o->event);
}

static void wait_for_set(object *o, int64_t deadline)
{
    if (filch_event_wait_until(&o->event, deadline) != 0)
        abort();
    let_go_of(o);
}

static void done(object *o)
{
    filch_wait_group_done(&o->wait_group);
}

static void wait_for_done(object *o, int64_t deadline)
{
    if (filch_wait_group_wait_until(&o->wait_group, deadline) != 0)
        abort();
    let_go_of(o);
}

static void use_locked(object *o)
{
    bool is_last;

    filch_mutex_lock(&o->mutex);
    is_last = --o->users == 0;
    filch_mutex_unlock(&o->mutex);
    if (is_last)
        let_go_of(o);
}

static void use_locked_until(object *o, int64_t deadline)
{
    bool is_last;

    if (filch_mutex_lock_until(&o->mutex, deadline) != 0)
        abort();
    is_last = --o->users == 0;
    filch_mutex_unlock(&o->mutex);
    if (is_last)
        let_go_of(o);
}

static void use_to_write(object *o)
{
    bool is_last;

    filch_rwlock_wrlock(&o->rwlock);
    is_last = --o->users == 0;
    filch_rwlock_wrunlock(&o->rwlock);
    if (is_last)
        let_go_of(o);
}

/* Read until the other caller has written. */
static void read_it(object *o, int64_t deadline)
{
    bool is_last = false;

    while (!is_last) {
        if (filch_rwlock_rdlock_until(&o->rwlock, deadline) != 0)
            abort();
        is_last = o->users == 1;
        filch_rwlock_rdunlock(&o->rwlock);
        if (!is_last)
            filch_yield();
    }
    let_go_of(o);
}

static void set_and_signal(object *o)
{
    filch_mutex_lock(&o->mutex);
    o->is_set = true;
    if (o->users == 2)
        filch_cond_signal(&o->cond);
    else
        filch_cond_broadcast(&o->cond);
    filch_mutex_unlock(&o->mutex);
}

static void wait_for_signal(object *o, int64_t deadline)
{
    filch_mutex_lock(&o->mutex);
    while (!o->is_set)
        if (filch_cond_wait_until(&o->cond, &o->mutex, deadline) != 0)
            abort();
    filch_mutex_unlock(&o->mutex);
    let_go_of(o);
}

/* The first caller at the barrier has waited for the other, and frees it. */
static void meet(object *o)
{
    if (filch_barrier_wait(&o->barrier, 2) == 0)
        let_go_of(o);
}

static void meet_until(object *o, int64_t deadline)
{
    if (filch_barrier_wait_until(&o->barrier, 2, deadline) == 0)
        let_go_of(o);
}

static void work(void *arg)
{
    ((object *)arg)->is_set = true;
}

static void release_nothing(object *o)
{
    (void)o;
}

static void run_in_group(object *o, int64_t deadline)
{
    if (filch_group_run(&o->group, work, o) != 0 ||
        filch_group_wait_until(&o->group, deadline) != 0 || !o->is_set)
        abort();
    let_go_of(o);
}

static const kind kinds[] = {
    {"semaphore", post, wait_for_post},  {"event", set, wait_for_set},
    {"wait group", done, wait_for_done}, {"mutex", use_locked, use_locked_until},
    {"rwlock", use_to_write, read_it},   {"condition", set_and_signal, wait_for_signal},
    {"barrier", meet, meet_until},       {"group", release_nothing, run_in_group},
};

enum { KINDS = sizeof kinds / sizeof *kinds, WAITERS = 3 };

/* ---- the callers ---- */

static filch_chan *to_thread; /* objects to release */
static atomic_int releases;   /* calls that have not returned */

static void release(void *arg)
{
    object *o = arg;

    o->kind->release(o);
    atomic_fetch_sub(&releases, 1);
}

static void *release_in_thread(void *arg)
{
    object *o;

    while (filch_chan_recv(to_thread, &o) == 0)
        release(o);
    return arg;
}

typedef struct waiter {
    fi_rng rng;
    pthread_t thread;
    filch_fiber *fiber;
} waiter;

static void *waiter_main(void *arg)
{
    waiter *w = arg;

    for (int i = 0; i < SCALED(4000); i++) {
        const kind *k = &kinds[fi_rng_below(&w->rng, KINDS)];
        object *o = new_object(k);
        bool in_thread = fi_rng_below(&w->rng, 4) == 0;
        int64_t deadline = fi_rng_below(&w->rng, 2) ? INT64_MAX : filch_now() + FILCH_S(1000);
        if (k->release != release_nothing) {
            atomic_fetch_add(&releases, 1);
            if (in_thread ? filch_chan_send(to_thread, &o) != 0 : filch_go(release, o) != 0)
                abort();
        }
        if (fi_rng_below(&w->rng, 2))
            filch_yield(); /* so the other caller may be first */
        k->wait(o, deadline);
    }
    return NULL;
}

static uint64_t seed;

/* The last waiter is a thread. */
static void all_kinds(void)
{
    waiter waiters[WAITERS];
    pthread_t thread;

    to_thread = filch_chan_new(sizeof(object *), 0);
    CHECK_INT(pthread_create(&thread, NULL, release_in_thread, NULL), 0);
    for (int i = 0; i < WAITERS; i++) {
        fi_rng_seed(&waiters[i].rng, seed + (uint64_t)i);
        if (i < WAITERS - 1)
            CHECK((waiters[i].fiber = filch_fiber_start(waiter_main, &waiters[i])) != NULL);
        else
            CHECK_INT(pthread_create(&waiters[i].thread, NULL, waiter_main, &waiters[i]), 0);
    }
    for (int i = 0; i < WAITERS; i++)
        if (i < WAITERS - 1)
            CHECK_INT(filch_fiber_join(waiters[i].fiber, NULL), 0);
        else
            CHECK_INT(pthread_join(waiters[i].thread, NULL), 0);
    while (atomic_load(&releases) > 0)
        filch_yield();
    CHECK_INT(filch_chan_close(to_thread), 0);
    CHECK_INT(pthread_join(thread, NULL), 0);
    filch_chan_free(to_thread);
}

static void test_freed_by_woken_waiter(void **state)
{
    (void)state;
    seed = seed_get();
    workers_each(NULL, all_kinds);
}

CHECK_MAIN(test_freed_by_woken_waiter)
