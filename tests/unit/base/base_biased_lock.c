/* The biased lock on real threads.  The model checks cover the memory orders. */
#include "check.h"

#include "base/biased_lock.h"

#include <pthread.h>

enum { MAX_THREADS = 8, ROUNDS = 200000, BURST = 500 };

static pthread_barrier_t together;

static fi_biased_lock lock;   /* zeroed is unlocked */
static volatile long counter; /* not atomic: only the lock protects it */

typedef struct user {
    uint32_t lock_id;
    bool pauses; /* between two bursts */
} user;

static void count_once(uint32_t lock_id)
{
    fi_biased_lock_lock(&lock, lock_id);
    counter = counter + 1;
    fi_biased_lock_unlock(&lock, lock_id);
}

static void *count(void *arg)
{
    const user *u = arg;
    pthread_barrier_wait(&together);
    for (int i = 0; i < ROUNDS; i++) {
        count_once(u->lock_id);
        if (u->pauses && i % BURST == 0)
            fi_thread_yield();
    }
    return NULL;
}

static void run_users(user *users, int n)
{
    pthread_t thread[MAX_THREADS];
    counter = 0;
    CHECK_INT(pthread_barrier_init(&together, NULL, (unsigned)n), 0);
    for (int i = 0; i < n; i++)
        CHECK_INT(pthread_create(&thread[i], NULL, count, &users[i]), 0);
    for (int i = 0; i < n; i++)
        CHECK_INT(pthread_join(thread[i], NULL), 0);
    pthread_barrier_destroy(&together);
    CHECK_INT(counter, (long)n * ROUNDS);
}

/* The threads pass the bias to each other. */
static void a_busy_lock_admits_one(void **state)
{
    (void)state;
    for (int n = 1; n <= MAX_THREADS; n *= 2) {
        user users[MAX_THREADS];
        for (int i = 0; i < n; i++)
            users[i] = (user){.lock_id = (uint32_t)i + 1};
        run_users(users, n);
    }
}

/* Threads that pause do not answer when they are asked for the bias.  One never gets it. */
static void a_lock_with_idle_users_admits_one(void **state)
{
    (void)state;
    user users[] = {{.lock_id = 1},
                    {.lock_id = 2, .pauses = true},
                    {.lock_id = FI_LOCK_ID_NONE, .pauses = true}};
    run_users(users, 3);
}

CHECK_MAIN(a_busy_lock_admits_one, a_lock_with_idle_users_admits_one)
