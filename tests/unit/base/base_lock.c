/* The lock and the use count on real threads.  The model checks cover the memory orders. */
#include "check.h"

#include "base/lock.h"
#include "base/use_count.h"

#include <pthread.h>
#include <stdatomic.h>

enum { MAX_THREADS = 8, ROUNDS = 50000 };

static pthread_barrier_t together;

static fi_lock lock;          /* zeroed is unlocked */
static volatile long counter; /* not atomic: only the lock protects it */

static void *count(void *arg)
{
    (void)arg;
    pthread_barrier_wait(&together);
    for (int i = 0; i < ROUNDS; i++) {
        fi_lock_lock(&lock);
        counter = counter + 1;
        fi_lock_unlock(&lock);
    }
    return NULL;
}

static void run_threads(void *(*body)(void *), int n)
{
    pthread_t thread[MAX_THREADS];
    CHECK_INT(pthread_barrier_init(&together, NULL, (unsigned)n), 0);
    for (int i = 0; i < n; i++)
        CHECK_INT(pthread_create(&thread[i], NULL, body, NULL), 0);
    for (int i = 0; i < n; i++)
        CHECK_INT(pthread_join(thread[i], NULL), 0);
    pthread_barrier_destroy(&together);
}

static void a_lock_admits_one(void **state)
{
    (void)state;
    for (int n = 1; n <= MAX_THREADS; n *= 2) {
        counter = 0;
        run_threads(count, n);
        CHECK_INT(counter, (long)n * ROUNDS);
    }
}

static fi_use_count lease;
static long object[2]; /* always equal for users */
static atomic_long replaced;

static void *use_and_replace(void *arg)
{
    (void)arg;
    pthread_barrier_wait(&together);
    for (int i = 0; i < ROUNDS; i++) {
        fi_use_count_enter(&lease);
        if (object[0] != object[1])
            abort();
        if (!fi_use_count_leave(&lease))
            abort();
        if (fi_use_count_try_close(&lease)) {
            object[0]++;
            object[1]++;
            fi_use_count_open(&lease);
            atomic_fetch_add(&replaced, 1);
        }
    }
    return NULL;
}

static void an_object_in_use_is_not_replaced(void **state)
{
    (void)state;
    fi_use_count_enter(&lease);
    CHECK_INT(fi_use_count_count(&lease), 1);
    CHECK(!fi_use_count_try_close(&lease));
    CHECK(fi_use_count_leave(&lease));
    CHECK(fi_use_count_try_close(&lease));
    CHECK(!fi_use_count_try_close(&lease));
    fi_use_count_open(&lease);
    CHECK_INT(fi_use_count_count(&lease), 0);

    for (int n = 1; n <= MAX_THREADS; n *= 2)
        run_threads(use_and_replace, n);
    CHECK_INT(object[0], atomic_load(&replaced));
    CHECK_INT(object[1], atomic_load(&replaced));
}

/* A leave without an enter is reported to the caller. */
static void leave_without_enter_fails(void **state)
{
    (void)state;
    fi_use_count l;
    fi_use_count_init(&l);
    CHECK(!fi_use_count_leave(&l));
}

CHECK_MAIN(a_lock_admits_one, an_object_in_use_is_not_replaced, leave_without_enter_fails)
