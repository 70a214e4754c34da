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

static fi_use_count use_count;
static long object[2]; /* always equal for users */
static atomic_long replaced;

static void *use_and_replace(void *arg)
{
    (void)arg;
    pthread_barrier_wait(&together);
    for (int i = 0; i < ROUNDS; i++) {
        fi_use_count_enter(&use_count);
        if (object[0] != object[1])
            abort();
        if (!fi_use_count_leave(&use_count))
            abort();
        if (fi_use_count_try_close(&use_count)) {
            object[0]++;
            object[1]++;
            fi_use_count_open(&use_count);
            atomic_fetch_add(&replaced, 1);
        }
    }
    return NULL;
}

static void an_object_in_use_is_not_replaced(void **state)
{
    (void)state;
    fi_use_count_enter(&use_count);
    CHECK_INT(fi_use_count_count(&use_count), 1);
    CHECK(!fi_use_count_try_close(&use_count));
    CHECK(fi_use_count_leave(&use_count));
    CHECK(fi_use_count_try_close(&use_count));
    CHECK(!fi_use_count_try_close(&use_count));
    fi_use_count_open(&use_count);
    CHECK_INT(fi_use_count_count(&use_count), 0);

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
