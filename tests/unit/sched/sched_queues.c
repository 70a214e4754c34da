/* The small parts of the scheduler, each alone: shared queue, records, shares of the global
 * queue, strides. */
#include "check.h"

#include "base/mem.h"
#include "base/record_pool.h"
#include "sched/runtime.h"
#include "sched/shared_queue.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

/* ---- the queue ---- */

static void queue_is_fifo(void **state)
{
    fi_shared_queue q = {0};
    fi_runnable r[10] = {{0}}, *list;

    (void)state;
    CHECK(fi_shared_queue_pop(&q) == NULL);
    CHECK_INT(fi_shared_queue_take(&q, 3, &list), 0);
    CHECK(list == NULL);
    for (int i = 0; i < 10; i++)
        fi_shared_queue_push(&q, &r[i]);
    CHECK_INT(fi_shared_queue_size(&q), 10);
    CHECK(fi_shared_queue_pop(&q) == &r[0]);
    CHECK_INT(fi_shared_queue_take(&q, 4, &list), 4);
    for (int i = 1; i < 5; i++, list = list->next)
        CHECK(list == &r[i]);
    CHECK(list == NULL);
    CHECK_INT(fi_shared_queue_size(&q), 5);
    CHECK_INT(fi_shared_queue_take(&q, 100, &list), 5);
    CHECK(list == &r[5]);
    CHECK_INT(fi_shared_queue_size(&q), 0);
    CHECK(fi_shared_queue_pop(&q) == NULL);
    fi_shared_queue_push(&q, &r[3]);
    CHECK(fi_shared_queue_pop(&q) == &r[3]);
    CHECK(fi_shared_queue_pop(&q) == NULL);
}

#define PUSHERS  4
#define PER_PUSH 5000

typedef struct item {
    fi_runnable runnable; /* first */
    int pusher, number;
} item;

static fi_shared_queue shared;
static item items[PUSHERS][PER_PUSH];
static atomic_int popped[PUSHERS][PER_PUSH];
static atomic_int popped_n;

static void *push_all(void *arg)
{
    item *mine = arg;

    for (int i = 0; i < PER_PUSH; i++)
        fi_shared_queue_push(&shared, &mine[i].runnable);
    return NULL;
}

/* Returns true if the items of each pusher came out in order. */
static void *take_all(void *arg)
{
    int last[PUSHERS] = {-1, -1, -1, -1};
    bool *in_order = arg;
    fi_runnable *list;

    while (atomic_load(&popped_n) < PUSHERS * PER_PUSH) {
        size_t n = fi_shared_queue_take(&shared, 7, &list);

        for (; list; list = list->next) {
            item *i = (item *)(void *)list;

            *in_order = *in_order && i->number > last[i->pusher];
            last[i->pusher] = i->number;
            atomic_fetch_add(&popped[i->pusher][i->number], 1);
        }
        atomic_fetch_add(&popped_n, (int)n);
    }
    return NULL;
}

static void queue_keeps_every_item(void **state)
{
    pthread_t pushers[PUSHERS], takers[2];
    bool in_order[2] = {true, true};

    (void)state;
    for (int p = 0; p < PUSHERS; p++)
        for (int i = 0; i < PER_PUSH; i++)
            items[p][i] = (item){.pusher = p, .number = i};
    for (int i = 0; i < PUSHERS; i++)
        CHECK_INT(pthread_create(&pushers[i], NULL, push_all, items[i]), 0);
    for (int i = 0; i < 2; i++)
        CHECK_INT(pthread_create(&takers[i], NULL, take_all, &in_order[i]), 0);
    for (int i = 0; i < PUSHERS; i++)
        pthread_join(pushers[i], NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(takers[i], NULL);
    CHECK(in_order[0] && in_order[1]);
    for (int p = 0; p < PUSHERS; p++)
        for (int i = 0; i < PER_PUSH; i++)
            CHECK_INT(atomic_load(&popped[p][i]), 1);
    CHECK(fi_shared_queue_pop(&shared) == NULL);
}

/* ---- records ---- */

#define RECORDS 200

/* Records that one worker allocates and another frees return to the first through the depot. */
static void freed_records_return_to_the_allocating_worker(void **state)
{
    fi_record_depot share;
    fi_record_pool giver, taker;
    int slabs = 0;

    (void)state;
    fi_record_depot_init(&share, FI_CACHE_LINE);
    fi_record_pool_init(&giver, &share);
    fi_record_pool_init(&taker, &share);
    for (int i = 0; i < 100000; i++)
        fi_record_pool_free(&taker, fi_record_pool_alloc(&giver));
    for (fi_record_slab *slab = giver.slabs; slab; slab = slab->next)
        slabs++;
    CHECK(slabs <= 8);
    fi_record_pool_fini(&giver);
    fi_record_pool_fini(&taker);
}

static void records_are_distinct_and_reused(void **state)
{
    size_t before = fi_mem_live().blocks;
    fi_record_depot share;
    fi_record_pool p, other;
    char *r[RECORDS];

    (void)state;
    fi_record_depot_init(&share, FI_CACHE_LINE);
    fi_record_pool_init(&p, &share);
    fi_record_pool_init(&other, &share);
    for (int i = 0; i < RECORDS; i++) {
        r[i] = fi_record_pool_alloc(&p);
        CHECK(r[i] != NULL);
        CHECK_INT((uintptr_t)r[i] % FI_CACHE_LINE, 0);
        memset(r[i], i, FI_CACHE_LINE);
    }
    for (int i = 0; i < RECORDS; i++)
        for (int b = 0; b < FI_CACHE_LINE; b++)
            CHECK_INT((unsigned char)r[i][b], i);
    CHECK_INT(fi_mem_live().blocks - before,
              (RECORDS + FI_RECORDS_PER_SLAB - 1) / FI_RECORDS_PER_SLAB);
    fi_record_pool_free(&p, r[7]);
    CHECK(fi_record_pool_alloc(&p) == r[7]); /* the last freed first */
    fi_record_pool_free(&other, r[9]);
    CHECK(fi_record_pool_alloc(&other) == r[9]);
    CHECK(other.slabs == NULL);
    fi_record_pool_fini(&other);
    fi_record_pool_fini(&p);
    CHECK_INT(fi_mem_live().blocks, before);
}

static bool is_poisoned(void *at)
{
#if FI_UNDER_ASAN
    return __asan_address_is_poisoned(at);
#else
    (void)at;
    return false;
#endif
}

/* Free records are poisoned for AddressSanitizer, except their first bytes. */
static void free_records_are_poisoned(void **state)
{
    fi_record_depot share;
    fi_record_pool p, other;
    char *r[RECORDS], *last;
    const size_t size = (size_t)2 * FI_CACHE_LINE;

    (void)state;
    fi_record_depot_init(&share, size);
    fi_record_pool_init(&p, &share);
    fi_record_pool_init(&other, &share);
    for (int i = 0; i < RECORDS; i++) {
        CHECK((r[i] = fi_record_pool_alloc(&p)) != NULL);
        CHECK(!is_poisoned(r[i]) && !is_poisoned(r[i] + size - 1));
    }
    for (int i = 0; i < RECORDS; i++) {
        fi_record_pool_free(&p, r[i]);
        CHECK(!is_poisoned(r[i] + FI_RECORD_HEAD - 1));
        CHECK_INT(is_poisoned(r[i] + FI_RECORD_HEAD), FI_UNDER_ASAN);
        CHECK_INT(is_poisoned(r[i] + size - 1), FI_UNDER_ASAN);
    }
    fi_record_pool_flush(&p);
    CHECK((last = fi_record_pool_alloc(&other)) != NULL); /* from the magazine */
    CHECK(other.slabs == NULL && !is_poisoned(last + size - 1));
    fi_record_pool_merge(&p, &other);
    fi_record_pool_end(&p, UINT64_MAX);
    CHECK(!is_poisoned(last)); /* it is in use */
    fi_record_orphan_free(UINT64_MAX, last, size);
}

/* ---- shares of the global queue ---- */

static void shares_are_fair(void **state)
{
    static const struct {
        size_t n;
        unsigned workers;
        size_t at_once, share;
    } rows[] = {
        {1, 1, 128, 1},        {1, 8, 128, 1},     {2, 1, 128, 1},      {2, 8, 128, 1},
        {3, 1, 128, 1},        {10, 1, 128, 5},    {10, 2, 128, 5},     {10, 4, 128, 3},
        {100, 4, 128, 26},     {100, 8, 128, 13},  {1000, 2, 128, 128}, {1000, 8, 128, 126},
        {100000, 8, 128, 128}, {100000, 64, 4, 4}, {7, 1024, 128, 1},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        CHECK_INT(fi_global_share(rows[i].n, rows[i].workers, rows[i].at_once), rows[i].share);
}

/* ---- strides ---- */

static bool visits_each_once(unsigned n, unsigned start, unsigned stride)
{
    bool seen[64] = {false};

    for (unsigned i = 0, at = start; i < n; i++, at = (at + stride) % n) {
        if (seen[at])
            return false;
        seen[at] = true;
    }
    return true;
}

static void strides_visit_each_worker_once(void **state)
{
    (void)state;
    for (unsigned n = 1; n <= 33; n++) {
        fi_runtime *rt;

        CHECK_INT(filch_start(&(filch_config){.workers = n}), 0);
        rt = fi_runtime_lock_running();
        fi_runtime_unlock_running();
        CHECK(rt->n_strides >= 1);
        for (unsigned i = 0; i < rt->n_strides; i++) {
            CHECK(i == 0 || rt->strides[i] > rt->strides[i - 1]);
            for (unsigned start = 0; start < n; start++)
                CHECK(visits_each_once(n, start, rt->strides[i]));
        }
        CHECK_INT(filch_stop(), 0);
    }
}

CHECK_MAIN(queue_is_fifo, queue_keeps_every_item, records_are_distinct_and_reused,
           freed_records_return_to_the_allocating_worker, free_records_are_poisoned,
           shares_are_fair, strides_visit_each_worker_once)
