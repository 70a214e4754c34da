/* Every allocation of waits with a deadline fails once.  A wait returns -ETIMEDOUT or -ENOMEM, and
 * leaves the object as it was.  Messages are complete without memory. */
#include "fault/rounds.h"

#include <stdatomic.h>

enum { WAITERS = 100 }; /* more than the first size of the timer heap */

static filch_event event, auto_event = FILCH_EVENT_AUTO_INIT;
static filch_sem sem;
static filch_wait_group wait_group;
static filch_barrier barrier;
static filch_mutex mutex, cond_mutex;
static filch_cond cond;
static filch_rwlock rwlock;

/* ---- waits ---- */

static int wait_cond(int64_t deadline)
{
    int e;

    filch_mutex_lock(&cond_mutex);
    e = filch_cond_wait_until(&cond, &cond_mutex, deadline);
    filch_mutex_unlock(&cond_mutex);
    return e;
}

/* Wait for one of ten things that do not happen. */
static int wait_for(int what, int64_t deadline)
{
    switch (what) {
    case 0:
        return filch_event_wait_until(&event, deadline);
    case 1:
        return filch_event_wait_until(&auto_event, deadline);
    case 2:
        return filch_sem_wait_until(&sem, deadline);
    case 3:
        return filch_wait_group_wait_until(&wait_group, deadline);
    case 4:
        return filch_barrier_wait_until(&barrier, 2 * WAITERS, deadline);
    case 5:
        return filch_mutex_lock_until(&mutex, deadline);
    case 6:
        return wait_cond(deadline);
    case 7:
        return filch_rwlock_rdlock_until(&rwlock, deadline);
    case 8:
        return filch_rwlock_wrlock_until(&rwlock, deadline);
    default:
        return filch_sleep_until(deadline) == 0 ? -ETIMEDOUT : -ENOMEM;
    }
}

/* The fibers wait at the same time, so that the timer heap grows. */
static atomic_int begun, ended, without_memory, wrong;
static int n_fibers;

static void wait_in_fiber(void *number)
{
    int e;

    atomic_fetch_add(&begun, 1);
    while (atomic_load(&begun) < n_fibers)
        filch_yield();
    e = wait_for((int)(intptr_t)number % 10, filch_now() + FILCH_MS(1));
    atomic_fetch_add(&without_memory, e == -ENOMEM);
    atomic_fetch_add(&wrong, e != -ENOMEM && e != -ETIMEDOUT);
    atomic_fetch_add(&ended, 1);
}

static int start_fibers(void)
{
    int started = 0, e = 0;

    n_fibers = WAITERS;
    for (int i = 0; i < WAITERS; i++) {
        if (filch_go(wait_in_fiber, (void *)(intptr_t)i) == 0) {
            started++;
        } else {
            atomic_fetch_add(&begun, 1);
            e = -ENOMEM;
        }
    }
    while (atomic_load(&ended) < started)
        filch_yield();
    return e;
}

/* ---- the objects afterwards ---- */

static void check_objects(void)
{
    CHECK(!filch_event_is_set(&event));
    filch_event_set(&auto_event); /* no waiter is left to take it */
    CHECK_INT(filch_event_try_wait(&auto_event), 0);
    filch_sem_post(&sem);
    CHECK_INT(filch_sem_try_wait(&sem), 0);
    CHECK_INT(filch_mutex_try_lock(&cond_mutex), 0);
    filch_mutex_unlock(&cond_mutex);
}

static int run_waits(void)
{
    int e;

    atomic_store(&begun, 0);
    atomic_store(&ended, 0);
    atomic_store(&without_memory, 0);
    filch_wait_group_add(&wait_group, 1);
    filch_mutex_lock(&mutex);
    filch_rwlock_wrlock(&rwlock);
    e = start_fibers();
    filch_rwlock_wrunlock(&rwlock);
    filch_mutex_unlock(&mutex);
    filch_wait_group_done(&wait_group);
    CHECK_INT(atomic_load(&wrong), 0);
    check_objects();
    return e < 0 || atomic_load(&without_memory) > 0 ? -ENOMEM : 0;
}

static void waits_with_deadlines(void **state)
{
    (void)state;
    for (unsigned n = 1; n <= 2; n++)
        CHECK(fault_rounds(run_waits, (fault_round){.workers = n}) > 10);
}

/* ---- messages ---- */

static int n_messages;

static void count_message(filch_level level, const char *text, void *ctx)
{
    n_messages += level == FILCH_LEVEL_ERROR && ctx == &n_messages &&
                  strncmp(text, "filch_timer_restart: ", 21) == 0;
}

/* A wrong call reports itself to the handler. */
static int send_message(void *arg)
{
    filch_timer t = FILCH_TIMER_INIT;
    int e;

    (void)arg;
    n_messages = 0;
    filch_set_message_handler(count_message, &n_messages);
    e = filch_timer_restart(&t, 0);
    filch_set_message_handler(NULL, NULL);
    return e == -EINVAL && n_messages == 1 ? 0 : -EPROTO;
}

static void messages_need_no_memory(void **state)
{
    (void)state;
    CHECK_INT(inject_every(send_message, NULL), 0);
}

CHECK_MAIN(waits_with_deadlines, messages_need_no_memory)
