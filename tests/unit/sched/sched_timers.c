/* Timers: random operations compared with a sorted list, and threads that set and remove timers
 * while another fires. */
#include "check.h"

#include "base/rng.h"
#include "base/timer_heap.h"
#include "seed.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#define TIMERS 200
#define STEPS  30000
#define RANGE  500 /* small, so that many deadlines are equal */

typedef struct test_timer {
    fi_timer timer; /* first */
    bool is_set;
    int fired;
} test_timer;

/* ---- compared with a sorted list ---- */

static fi_timer_heap heap;
static test_timer all[TIMERS];
static test_timer *sorted[TIMERS]; /* pending timers, the earliest first */
static size_t sorted_n;
static test_timer *fired[TIMERS];
static size_t fired_n;

static void mark_fired(fi_timer *t)
{
    test_timer *mine = (test_timer *)(void *)t;

    mine->fired++;
    fired[fired_n++] = mine;
}

static int64_t earliest(void)
{
    return sorted_n > 0 ? sorted[0]->timer.deadline_ns : FI_TIMER_NEVER;
}

static void list_add(test_timer *t)
{
    size_t i = sorted_n++;

    for (; i > 0 && sorted[i - 1]->timer.deadline_ns > t->timer.deadline_ns; i--)
        sorted[i] = sorted[i - 1];
    sorted[i] = t;
    t->is_set = true;
}

static void list_remove(test_timer *t)
{
    size_t i = 0;

    while (sorted[i] != t)
        i++;
    for (sorted_n--; i < sorted_n; i++)
        sorted[i] = sorted[i + 1];
    t->is_set = false;
}

static void init_test(void)
{
    fi_timer_heap_fini(&heap);
    fi_timer_heap_init(&heap);
    memset(all, 0, sizeof all);
    for (int i = 0; i < TIMERS; i++)
        all[i].timer = (fi_timer){.fire = mark_fired, .heap = &heap};
    sorted_n = fired_n = 0;
}

static void add(test_timer *t, int64_t deadline_ns)
{
    int64_t before = fi_timer_heap_next(&heap);

    t->timer.deadline_ns = deadline_ns;
    list_add(t);
    if (fi_timer_heap_add(&heap, &t->timer) > 0)
        CHECK(deadline_ns <= before);
    else
        CHECK(deadline_ns >= before);
}

static void remove_timer(test_timer *t)
{
    if (t->is_set)
        list_remove(t);
    fi_timer_heap_remove(&t->timer);
}

/* Fires all timers that are due, in order of deadline.  Those with equal deadlines fire in any
 * order. */
static void fire(int64_t now_ns)
{
    fired_n = 0;
    fi_timer_heap_fire(&heap, now_ns);
    for (size_t i = 0; i < fired_n; i++) {
        CHECK(sorted_n > 0 && fired[i]->is_set);
        CHECK_INT(fired[i]->timer.deadline_ns, earliest());
        CHECK(fired[i]->timer.deadline_ns <= now_ns);
        list_remove(fired[i]);
    }
    CHECK(earliest() > now_ns && fi_timer_heap_next(&heap) > now_ns);
}

/* The announced deadline may be that of a removed timer, unless no timer is left. */
static void check_next(void)
{
    CHECK(fi_timer_heap_next(&heap) <= earliest());
    CHECK((fi_timer_heap_next(&heap) == FI_TIMER_NEVER) == (sorted_n == 0));
}

/* No entry is due before its parent.  Each index leads to a timer with that index, or to none. */
static void check_heap(void)
{
    size_t live = 0;

    check_next();
    for (uint32_t i = 0; i < heap.n; i++) {
        const fi_timer *t = heap.slots[heap.heap[i].index].timer;
        CHECK(i == 0 || heap.heap[i].deadline_ns >= heap.heap[(i - 1) / 4].deadline_ns);
        CHECK(!t ||
              (t->index == heap.heap[i].index + 1 && t->deadline_ns == heap.heap[i].deadline_ns));
        live += t != NULL;
    }
    CHECK_INT(live, sorted_n);
    CHECK_INT(heap.n - live, heap.removed);
}

static void a_few_timers(void **state)
{
    (void)state;
    init_test();
    check_heap();
    fire(INT64_MAX - 1);
    CHECK_INT(fired_n, 0);
    fi_timer_heap_remove(&all[0].timer); /* not in the heap */
    add(&all[0], 30);
    CHECK(fi_timer_heap_next(&heap) == 30);
    add(&all[1], 10);
    add(&all[2], 20);
    CHECK(fi_timer_heap_next(&heap) == 10);
    remove_timer(&all[1]);
    remove_timer(&all[1]);
    CHECK(fi_timer_heap_next(&heap) == 10); /* of the removed timer */
    fire(19);
    CHECK_INT(fired_n, 0);
    CHECK(fi_timer_heap_next(&heap) == 20);
    fire(20);
    CHECK_INT(fired_n, 1);
    CHECK(fired[0] == &all[2]);
    remove_timer(&all[2]); /* has fired */
    add(&all[2], 5);       /* add it again */
    fire(100);
    CHECK_INT(fired_n, 2);
    CHECK_INT(all[2].fired, 2);
    CHECK_INT(all[1].fired, 0);
    CHECK(fi_timer_heap_next(&heap) == FI_TIMER_NEVER);
    check_heap();
}

/* The deadline of a removed timer stays until it is asked for. */
static void first_live_timer(void **state)
{
    (void)state;
    init_test();
    CHECK(fi_timer_heap_first_live(&heap) == FI_TIMER_NEVER);
    for (int i = 0; i < 5; i++)
        add(&all[i], INT64_C(10) * (i + 1));
    remove_timer(&all[0]);
    remove_timer(&all[1]);
    remove_timer(&all[3]);
    CHECK(fi_timer_heap_next(&heap) == 10);
    CHECK(fi_timer_heap_first_live(&heap) == 30);
    CHECK(fi_timer_heap_next(&heap) == 30);
    check_heap();
    remove_timer(&all[2]);
    CHECK(fi_timer_heap_first_live(&heap) == 50);
    remove_timer(&all[4]);
    CHECK(fi_timer_heap_next(&heap) == FI_TIMER_NEVER);
    CHECK(fi_timer_heap_first_live(&heap) == FI_TIMER_NEVER);
    check_heap();
}

/* Adds prevail in growing phases, removals in the others. */
static void random_step(fi_rng *r, int64_t *now_ns, bool growing)
{
    test_timer *t = &all[fi_rng_next(r) % TIMERS];
    uint64_t what = fi_rng_next(r) % 16;

    if (what == 0)
        fire(*now_ns += (int64_t)(fi_rng_next(r) % 20));
    else if ((what < 11) == growing && !t->is_set)
        add(t, *now_ns + (int64_t)(fi_rng_next(r) % RANGE));
    else if ((what < 11) != growing)
        remove_timer(t);
}

static void agrees_with_a_sorted_list(void **state)
{
    fi_rng r;
    int64_t now_ns = 0;

    (void)state;
    fi_rng_seed(&r, seed_get());
    init_test();
    for (int i = 0; i < STEPS; i++) {
        random_step(&r, &now_ns, i / 500 % 2 == 0);
        check_next();
        if (i % 16 == 0)
            check_heap();
    }
    fire(INT64_MAX - 1);
    check_heap();
}

/* ---- many timers in order ---- */

#define MANY 50000

static fi_timer lots[MANY];
static int64_t last_ns;
static size_t many_fired;

static void check_order(fi_timer *t)
{
    CHECK(t->deadline_ns >= last_ns);
    last_ns = t->deadline_ns;
    many_fired++;
}

static void many(bool ascending)
{
    fi_timer_heap ts;

    fi_timer_heap_init(&ts);
    last_ns = INT64_MIN;
    many_fired = 0;
    for (int i = 0; i < MANY; i++) {
        lots[i] = (fi_timer){.deadline_ns = ascending ? i : MANY - i, .fire = check_order};
        CHECK_INT(fi_timer_heap_add(&ts, &lots[i]), !ascending || i == 0);
    }
    for (int i = 0; i < MANY; i += 3)
        fi_timer_heap_remove(&lots[i]);
    fi_timer_heap_fire(&ts, MANY);
    CHECK_INT(many_fired, MANY - (MANY + 2) / 3);
    fi_timer_heap_fini(&ts);
}

/* Timers that are removed before their deadline do not accumulate. */
static void removed_timers_are_compacted(void **state)
{
    static fi_timer t;
    fi_timer_heap ts;

    (void)state;
    fi_timer_heap_init(&ts);
    for (int i = 0; i < MANY; i++) {
        t = (fi_timer){.deadline_ns = i, .fire = check_order};
        CHECK(fi_timer_heap_add(&ts, &t) >= 0);
        CHECK(fi_timer_heap_remove(&t));
        CHECK(ts.n <= 128);
    }
    fi_timer_heap_fini(&ts);
}

static void many_timers_in_order(void **state)
{
    (void)state;
    many(true);
    many(false);
}

/* ---- threads ---- */

#define SETTERS 3
#define ROUNDS  5000

static fi_timer_heap shared;
static atomic_int setters_left;

typedef struct own_timer {
    fi_timer timer; /* first */
    int fired;      /* the setter reads it after the removal */
} own_timer;

static void count_fired(fi_timer *t)
{
    ((own_timer *)(void *)t)->fired++;
}

static void *set_and_remove(void *arg)
{
    own_timer mine;
    int64_t n = *(int64_t *)arg;

    for (int i = 0; i < ROUNDS; i++) {
        mine = (own_timer){.timer = {.deadline_ns = (i * n) % 64, .fire = count_fired}};
        fi_timer_heap_add(&shared, &mine.timer);
        if (i % 2 == 0)
            while (fi_timer_heap_next(&shared) <= mine.timer.deadline_ns)
                sched_yield(); /* until it has fired */
        fi_timer_heap_remove(&mine.timer);
        CHECK(mine.fired == 1 || (i % 2 != 0 && mine.fired == 0));
    }
    atomic_fetch_sub(&setters_left, 1);
    return NULL;
}

/* A sleeper gets the deadline of the next timer, where negative times have other meanings. */
static void a_negative_deadline(void **state)
{
    (void)state;
    init_test();
    all[0].timer.deadline_ns = INT64_MIN;
    all[1].timer.deadline_ns = -1;
    CHECK_INT(fi_timer_heap_add(&heap, &all[0].timer), 1);
    CHECK_INT(fi_timer_heap_add(&heap, &all[1].timer), 0);
    CHECK_INT(fi_timer_heap_next(&heap), 0);
    fi_timer_heap_fire(&heap, 0);
    CHECK_INT(fired_n, 2);
}

/* After its removal, the setter may reuse a timer, whether it has fired or not. */
static void removed_while_others_fire(void **state)
{
    pthread_t threads[SETTERS];
    int64_t numbers[SETTERS] = {7, 11, 13};

    (void)state;
    fi_timer_heap_init(&shared);
    atomic_store(&setters_left, SETTERS);
    for (int i = 0; i < SETTERS; i++)
        CHECK_INT(pthread_create(&threads[i], NULL, set_and_remove, &numbers[i]), 0);
    while (atomic_load(&setters_left) > 0)
        if (fi_timer_heap_next(&shared) != FI_TIMER_NEVER)
            fi_timer_heap_fire(&shared, 64);
    for (int i = 0; i < SETTERS; i++)
        pthread_join(threads[i], NULL);
    CHECK(fi_timer_heap_next(&shared) == FI_TIMER_NEVER);
    fi_timer_heap_fini(&shared);
}

CHECK_MAIN(a_few_timers, first_live_timer, agrees_with_a_sorted_list, many_timers_in_order,
           removed_timers_are_compacted, a_negative_deadline, removed_while_others_fire)
