/* One contract, the same seven tests for every kind: smoke, empty, spsc, stampede, stress,
 * starvation, teardown.  The property is always the same: each pushed item is obtained exactly
 * once. */
#include "check.h"
#include "seed.h"

#include "base/mem.h"
#include "base/rng.h"
#include "unit/deque/settings.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

enum { MAX_THIEVES = 8, MAX_OUT = 128 };

/* Counts how often the item was obtained. */
typedef struct item {
    atomic_int obtained;
} item;

/* One owner (the calling thread) and some thieves on one deque. */
typedef struct deque_test {
    fi_deque *deque;
    item *items;
    uint32_t n;
    int thieves;
    atomic_bool done;
    atomic_uint got[MAX_THIEVES];
    bool round_and_round;
    bool in_order; /* a lone thief without a popping owner sees the oldest first */
    pthread_t thread[MAX_THIEVES];
    atomic_int started;
    uint32_t top; /* the first index */
} deque_test;

typedef struct thief {
    deque_test *deque_test;
    int id;
} thief;

/* Let other threads run.  On a busy machine a thread that sleeps wakes promptly, but one that
 * yields waits for the time slices of all others. */
static void wait_a_little(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 10000}, NULL);
}

static void obtain(item *x)
{
    if (atomic_fetch_add_explicit(&x->obtained, 1, memory_order_relaxed) != 0) {
        fprintf(stderr, "an item was obtained twice\n");
        abort();
    }
}

static void check_order(deque_test *c, item **last, item *x)
{
    if (c->in_order && *last && x <= *last) {
        fprintf(stderr, "stolen out of order\n");
        abort();
    }
    *last = x;
}

static void *thief_main(void *arg)
{
    thief *me = arg;
    deque_test *c = me->deque_test;
    void *out[MAX_OUT];
    item *last = NULL;
    atomic_fetch_add(&c->started, 1);
    for (;;) {
        bool done = atomic_load(&c->done);
        int n = fi_deque_steal(c->deque, out, MAX_OUT);
        for (int i = 0; i < n; i++) {
            check_order(c, &last, out[i]);
            if (!c->round_and_round)
                obtain(out[i]);
        }
        if (n > 0)
            atomic_fetch_add_explicit(&c->got[me->id], (unsigned)n, memory_order_relaxed);
        else if (n == FI_STEAL_EMPTY && done)
            return NULL;
        else
            wait_a_little();
    }
}

static thief thief_of[MAX_THIEVES];

static void deque_test_start(deque_test *c, const setting *s, uint64_t start, uint32_t n,
                             int thieves)
{
    memset(c, 0, sizeof *c);
    c->deque = deque_of(s, start);
    c->top = fi_deque_top(c->deque);
    c->items = calloc(n, sizeof *c->items);
    c->n = n;
    c->thieves = thieves;
    CHECK(c->items != NULL);
}

static void deque_test_go(deque_test *c)
{
    for (int i = 0; i < c->thieves; i++) {
        thief_of[i] = (thief){c, i};
        CHECK_INT(pthread_create(&c->thread[i], NULL, thief_main, &thief_of[i]), 0);
    }
    while (atomic_load(&c->started) < c->thieves)
        wait_a_little();
}

/* The number of pushed items equals that of obtained ones, by the test's counts and by the
 * deque's. */
static void check_counts(deque_test *c)
{
    fi_deque_counts *n = fi_deque_counts_of(c->deque);
    uint64_t stolen = 0;

    for (int i = 0; i < c->thieves; i++)
        stolen += atomic_load(&c->got[i]);
    CHECK_INT(fi_counted(&n->pushes), fi_counted(&n->pops) + stolen);
    CHECK_INT((uint32_t)(fi_counted(&n->pushes) + fi_counted(&n->bottom_restores) -
                         fi_counted(&n->bottom_decs)),
              fi_deque_top(c->deque) - c->top);
}

static void deque_test_join(deque_test *c)
{
    atomic_store(&c->done, true);
    for (int i = 0; i < c->thieves; i++)
        CHECK_INT(pthread_join(c->thread[i], NULL), 0);
    for (void *x; (x = fi_deque_pop(c->deque));)
        obtain(x);
    for (uint32_t i = 0; i < c->n; i++)
        CHECK_INT(atomic_load(&c->items[i].obtained), 1);
    CHECK_INT(fi_deque_size(c->deque), 0);
    check_counts(c);
    fi_deque_free(c->deque);
    free(c->items);
}

/* With a small capacity every item waits for another thread to run, so few items are used. */
static uint32_t items_for(const setting *s)
{
    return s->kind == &fi_deque_batch || s->capacity >= 64 ? 40000 : 2000;
}

/* If the deque is full, pop an item, or wait for the thieves if this test does not pop. */
static void push_or_wait(deque_test *c, item *x, bool pops)
{
    while (fi_deque_push(c->deque, x) == -ENOSPC) {
        item *mine = pops ? fi_deque_pop(c->deque) : NULL;
        if (mine)
            obtain(mine);
        else
            wait_a_little();
    }
}

static void in_every_setting(void (*one)(const setting *s, uint64_t start))
{
    for (int i = 0; i < SETTINGS; i++)
        for (int k = 0; k < STARTS; k++)
            one(&settings[i], starts[k]);
}

/* ---- the seven tests ---- */

/* The order of items for the owner alone and for a thief alone. */
static void smoke_one(const setting *s, uint64_t start)
{
    static item x[3];
    fi_deque *d = deque_of(s, start);
    uint32_t n = 0;
    while (n < 3 && fi_deque_push(d, &x[n]) == 0)
        n++;
    CHECK(n == 3 || (n == s->capacity && s->kind != &fi_deque_batch));
    CHECK_INT(fi_deque_size(d), n);
    CHECK(fi_deque_capacity(d) >= n);

    void *out[1];
    CHECK_INT(fi_deque_steal(d, out, 1), 1);
    CHECK(out[0] == &x[0]);
    if (n == 3) {
        CHECK(fi_deque_pop(d) == &x[s->kind->fifo ? 1 : 2]);
        CHECK(fi_deque_pop(d) == &x[s->kind->fifo ? 2 : 1]);
    } else if (n == 2) {
        CHECK(fi_deque_pop(d) == &x[1]);
    }
    CHECK(fi_deque_pop(d) == NULL);
    fi_deque_free(d);
}

static void smoke(void **state)
{
    (void)state;
    in_every_setting(smoke_one);
}

static void empty_one(const setting *s, uint64_t start)
{
    static item x;
    void *out[2];
    fi_deque *d = deque_of(s, start);
    for (int i = 0; i < 5; i++) { /* repeated, because the indices move */
        CHECK(fi_deque_pop(d) == NULL);
        CHECK_INT(fi_deque_steal(d, out, 2), FI_STEAL_EMPTY);
        CHECK_INT(fi_deque_size(d), 0);
        CHECK_INT(fi_deque_push(d, &x), 0);
        CHECK_INT(fi_deque_size(d), 1);
        if (i % 2)
            CHECK(fi_deque_pop(d) == &x);
        else
            CHECK_INT(fi_deque_steal(d, out, 2), 1);
        CHECK_INT(fi_deque_steal(d, out, 0), -EINVAL);
    }
    fi_deque_free(d);
}

static void empty(void **state)
{
    (void)state;
    in_every_setting(empty_one);
}

/* One producer, one thief: all items arrive in order. */
static void spsc_one(const setting *s, uint64_t start)
{
    deque_test c;
    deque_test_start(&c, s, start, items_for(s), 1);
    c.in_order = true;
    deque_test_go(&c);
    for (uint32_t i = 0; i < c.n; i++)
        push_or_wait(&c, &c.items[i], false);
    deque_test_join(&c);
}

static void spsc(void **state)
{
    (void)state;
    in_every_setting(spsc_one);
}

/* The deque is filled, then all thieves steal at once. */
static void stampede_of(const setting *s, uint64_t start, int thieves)
{
    deque_test c;
    uint32_t n = s->kind == &fi_deque_batch ? 3000 : s->capacity;
    deque_test_start(&c, s, start, n, thieves);
    for (uint32_t i = 0; i < n; i++)
        CHECK_INT(fi_deque_push(c.deque, &c.items[i]), 0);
    deque_test_go(&c);
    for (void *x; (x = fi_deque_pop(c.deque));)
        obtain(x);
    deque_test_join(&c);
}

static void stampede_one(const setting *s, uint64_t start)
{
    for (int thieves = 1; thieves <= MAX_THIEVES; thieves++)
        stampede_of(s, start, thieves);
}

static void stampede(void **state)
{
    (void)state;
    in_every_setting(stampede_one);
}

/* The owner pushes and pops random numbers of items, so that the deque is often long and often
 * empty. */
static void stress_of(const setting *s, uint64_t start, int thieves, fi_rng *rng)
{
    deque_test c;
    deque_test_start(&c, s, start, items_for(s), thieves);
    deque_test_go(&c);
    for (uint32_t i = 0; i < c.n;) {
        for (uint32_t run = fi_rng_below(rng, 40); run > 0 && i < c.n; run--)
            push_or_wait(&c, &c.items[i++], true);
        for (uint32_t run = fi_rng_below(rng, 40); run > 0; run--) {
            void *x = fi_deque_pop(c.deque);
            if (x)
                obtain(x);
        }
    }
    deque_test_join(&c);
}

static fi_rng stress_rng;

static void stress_one(const setting *s, uint64_t start)
{
    for (int thieves = 1; thieves <= MAX_THIEVES; thieves *= 2)
        stress_of(s, start, thieves, &stress_rng);
}

static void stress(void **state)
{
    (void)state;
    fi_rng_seed(&stress_rng, seed_get());
    in_every_setting(stress_one);
}

static bool all_have_some(deque_test *c)
{
    for (int i = 0; i < c->thieves; i++)
        if (atomic_load(&c->got[i]) == 0)
            return false;
    return true;
}

/* While the owner pushes and pops, every thief gets an item eventually.  One item is pushed again
 * and again, so the test does not count how often it is obtained. */
static void starvation(void **state)
{
    (void)state;
    for (const setting *s = settings; s < settings + SETTINGS; s++) {
        deque_test c;
        deque_test_start(&c, s, 1, 1, MAX_THIEVES);
        c.round_and_round = true;
        deque_test_go(&c);
        while (!all_have_some(&c)) {
            for (int i = 0; i < 8 && fi_deque_push(c.deque, &c.items[0]) == 0; i++)
                ;
            if (fi_deque_size(c.deque) > 1) /* leave the last item to the thieves */
                fi_deque_pop(c.deque);
            wait_a_little();
        }
        while (fi_deque_pop(c.deque))
            ;
        atomic_store(&c.items[0].obtained, 1);
        deque_test_join(&c);
    }
}

/* The caller keeps the items that are left when the deque is freed.  All memory is freed. */
static void teardown_one(const setting *s, uint64_t start)
{
    static item x[1000];
    fi_deque *d = deque_of(s, start);
    for (int i = 0; i < 1000; i++)
        if (fi_deque_push(d, &x[i]) == -ENOSPC)
            break;
    CHECK(fi_deque_size(d) > 0);
    fi_deque_free(d);
}

static void teardown(void **state)
{
    (void)state;
    fi_mem_count before = fi_mem_live();
    in_every_setting(teardown_one);
    fi_deque_free(NULL);
    CHECK_INT(fi_mem_live().blocks, before.blocks);
    CHECK_INT(fi_mem_live().bytes, before.bytes);
}

CHECK_MAIN(smoke, empty, spsc, stampede, stress, starvation, teardown)
