/* The ring alone: what is asked for is done once, and who waits comes out. */
#include "unit/task/workers.h"

#include "base/futex.h"
#include "io/ring.h"
#include "sched/poller.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#define FIRST 16 /* as whose, of things that do nothing */

static void ask(fi_ring *r, uint64_t whose)
{
    fi_ring_push(r, &(struct io_uring_sqe){.opcode = IORING_OP_NOP, .user_data = whose});
}

static void count(unsigned char *seen, unsigned most, const fi_ring_done *done, int n)
{
    for (int i = 0; i < n; i++) {
        CHECK(done[i].whose >= FIRST && done[i].whose < FIRST + most);
        CHECK_INT(done[i].result, 0);
        seen[done[i].whose - FIRST]++;
    }
}

/* More than there are places for what is asked, and then for what is done. */
static void many(unsigned n)
{
    unsigned char *seen = calloc(n, 1);
    fi_ring_done done[FI_RING_AT_ONCE];
    unsigned all = 0;
    fi_ring r;

    CHECK_INT(fi_ring_init(&r), 0);
    for (unsigned i = 0; i < n; i++)
        ask(&r, FIRST + i);
    while (all < n) {
        int k = fi_ring_wait(&r, done, FI_POLL_NOW);
        CHECK(k > 0 && k <= FI_RING_AT_ONCE);
        count(seen, n, done, k);
        all += (unsigned)k;
    }
    CHECK_INT(fi_ring_wait(&r, done, FI_POLL_NOW), 0);
    for (unsigned i = 0; i < n; i++)
        CHECK_INT(seen[i], 1);
    fi_ring_fini(&r);
    free(seen);
}

static void test_more_than_fits(void **state)
{
    (void)state;
    many(1000);
    many(20000);
}

/* ---- several at once ---- */

#define ASKERS 3
#define EACH   SCALED(200000)

static fi_ring shared;
static atomic_uint next_asker, taken;
static atomic_uchar seen_by_all[ASKERS * 200000];

static void *ask_and_take(void *arg)
{
    unsigned me = atomic_fetch_add(&next_asker, 1), asked = 0;
    fi_ring_done done[FI_RING_AT_ONCE];

    (void)arg;
    while (atomic_load(&taken) < ASKERS * EACH) {
        for (int i = 0; i < 7 && asked < EACH; i++)
            ask(&shared, FIRST + me * EACH + asked++);
        int n = fi_ring_wait(&shared, done, FI_POLL_NOW);
        for (int i = 0; i < n; i++)
            atomic_fetch_add(&seen_by_all[done[i].whose - FIRST], 1);
        atomic_fetch_add(&taken, (unsigned)n);
    }
    return NULL;
}

static void test_several(void **state)
{
    pthread_t t[ASKERS];

    (void)state;
    CHECK_INT(fi_ring_init(&shared), 0);
    for (int i = 0; i < ASKERS; i++)
        CHECK_INT(pthread_create(&t[i], NULL, ask_and_take, NULL), 0);
    for (int i = 0; i < ASKERS; i++)
        pthread_join(t[i], NULL);
    for (unsigned i = 0; i < ASKERS * EACH; i++)
        CHECK_INT(atomic_load(&seen_by_all[i]), 1);
    fi_ring_fini(&shared);
}

/* ---- interrupts ---- */

static atomic_uint came_out;
static atomic_bool over;

static void *wait_often(void *arg)
{
    unsigned n = *(unsigned *)arg;
    fi_ring_done done[FI_RING_AT_ONCE];

    for (unsigned i = 0; i < n; i++) {
        while (atomic_load(&came_out) != i)
            ;
        fi_ring_wait(&shared, done, FI_FUTEX_FOREVER);
        atomic_fetch_add(&came_out, 1);
    }
    return NULL;
}

static void *look_often(void *arg)
{
    fi_ring_done done[FI_RING_AT_ONCE];

    (void)arg;
    while (!atomic_load(&over))
        fi_ring_wait(&shared, done, FI_POLL_NOW);
    return NULL;
}

/* However many only look, who waits is not forgotten.  It may also come out for no reason. */
static void test_interrupts(void **state)
{
    unsigned n = SCALED(20000);
    pthread_t waiter, looker;

    (void)state;
    CHECK_INT(fi_ring_init(&shared), 0);
    CHECK_INT(pthread_create(&looker, NULL, look_often, NULL), 0);
    CHECK_INT(pthread_create(&waiter, NULL, wait_often, &n), 0);
    for (unsigned i = 0; i < n; i = atomic_load(&came_out)) {
        fi_ring_interrupt(&shared);
        while (atomic_load(&came_out) == i)
            ;
    }
    pthread_join(waiter, NULL);
    atomic_store(&over, true);
    pthread_join(looker, NULL);
    fi_ring_fini(&shared);
}

/* Who has begun to wait, and has seen no interrupt, is woken by what the kernel tells alone. */
static void test_looks_leave_interrupts(void **state)
{
    fi_ring_done done[FI_RING_AT_ONCE];
    fi_ring r;

    (void)state;
    CHECK_INT(fi_ring_init(&r), 0);
    fi_ring_interrupt(&r);
    for (int i = 0; i < 5; i++) {
        CHECK_INT(fi_ring_wait(&r, done, FI_POLL_NOW), 0);
        CHECK(fi_load_relaxed(r.done_head) != fi_load_relaxed(r.done_tail));
    }
    CHECK_INT(fi_ring_wait(&r, done, FI_FUTEX_FOREVER), 0);
    fi_ring_fini(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {CHECK_TEST(test_more_than_fits), CHECK_TEST(test_several),
                                       CHECK_TEST(test_interrupts),
                                       CHECK_TEST(test_looks_leave_interrupts)};
    fi_ring r;
    int e = fi_ring_init(&r);

    if (e < 0) {
        printf("no ring here: %s\n", strerror(-e));
        return 77;
    }
    fi_ring_fini(&r);
    return CHECK_RUN(tests);
}
