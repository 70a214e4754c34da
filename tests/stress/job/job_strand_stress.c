/* Fibers and threads submit functions to strands, call them, wait for them and stop them.  The
 * functions run one at a time, each exactly once, and those of one submitter in order.  The last
 * user of a strand stops it and frees its memory at once.  FILCH_SEED=… repeats the random choices
 * of a run, but not its interleaving. */
#include "unit/sync/helpers.h"

#include "base/rng.h"
#include "seed.h"
#include "stress/must.h"

enum { SUBMITTERS = 8, STRANDS = 3 };

/* ---- a strand that is freed by its last user ---- */

typedef struct shared_strand {
    filch_strand strand;
    int inside; /* plain: only functions of the strand use these two */
    long last[SUBMITTERS];
    atomic_long submitted, ran;
    atomic_int users;
} shared_strand;

typedef struct submission {
    shared_strand *s;
    int submitter;
    long number;
    uint64_t random;
} submission;

static void *(*volatile fill)(void *, int, size_t) = memset;

static void shared_strand_release(shared_strand *s)
{
    if (atomic_fetch_sub(&s->users, 1) != 1)
        return;
    MUST(filch_strand_stop(&s->strand) == 0);
    MUST(atomic_load(&s->ran) == atomic_load(&s->submitted));
    fill(s, 0xa5, sizeof *s);
    free(s);
}

static void visit(const submission *p)
{
    shared_strand *s = p->s;

    MUST(s->inside++ == 0);
    MUST(s->last[p->submitter] < p->number);
    s->last[p->submitter] = p->number;
    if (p->random % 8 == 0)
        filch_yield();
    if (p->random % 64 == 1)
        filch_sleep(FILCH_US(p->random / 64 % 20));
    MUST(s->inside-- == 1);
    atomic_fetch_add(&s->ran, 1);
}

static void visit_and_free(void *arg)
{
    visit(arg);
    free(arg);
}

static void visit_call(void *arg)
{
    visit(arg);
    ((submission *)arg)->number = -1;
}

/* ---- submitters ---- */

typedef struct submitter {
    async_call call;
    fi_rng rng;
    int index;
    shared_strand *strands[STRANDS];
} submitter;

static void submit(submitter *me, shared_strand *s, long number)
{
    submission p = {s, me->index, number, fi_rng_next(&me->rng)};
    submission *copy;

    atomic_fetch_add(&s->submitted, 1);
    if (fi_rng_below(&me->rng, 8) == 0) {
        MUST(filch_strand_call(&s->strand, visit_call, &p) == 0);
        MUST(p.number == -1);
        return;
    }
    copy = malloc(sizeof *copy);
    if (!copy)
        abort();
    *copy = p;
    MUST(filch_strand_run(&s->strand, visit_and_free, copy) == 0);
}

static int submitter_main(void *arg)
{
    submitter *me = arg;

    for (long i = 1; i <= SCALED(400); i++) {
        shared_strand *s = me->strands[fi_rng_below(&me->rng, STRANDS)];
        submit(me, s, i);
        if (fi_rng_below(&me->rng, 16) == 0)
            MUST(filch_strand_wait(&s->strand) == 0);
        if (fi_rng_below(&me->rng, 16) == 0)
            filch_yield();
    }
    for (int i = 0; i < STRANDS; i++)
        shared_strand_release(me->strands[i]);
    return 0;
}

static uint64_t seed;

static void all_submitters(void)
{
    static submitter all[SUBMITTERS];
    shared_strand *strands[STRANDS];

    for (int i = 0; i < STRANDS; i++) {
        strands[i] = calloc(1, sizeof *strands[i]);
        CHECK(strands[i] != NULL);
        atomic_store(&strands[i]->users, SUBMITTERS);
    }
    for (int i = 0; i < SUBMITTERS; i++) {
        fi_rng_seed(&all[i].rng, seed + (uint64_t)i);
        all[i].index = i;
        memcpy(all[i].strands, strands, sizeof strands);
        if (i % 4 == 3)
            async_call_start_thread(&all[i].call, submitter_main, &all[i]);
        else
            async_call_start(&all[i].call, submitter_main, &all[i]);
    }
    for (int i = 0; i < SUBMITTERS; i++)
        CHECK_INT(async_call_join(&all[i].call), 0);
    CHECK_INT(atomic_load(&failed_line), 0);
}

static void test_submitters(void **state)
{
    (void)state;
    seed = seed_get();
    workers_each(NULL, all_submitters);
}

/* ---- stop while others submit: each function is refused or runs ---- */

typedef struct race {
    filch_strand strand;
    atomic_int accepted, ran, start;
} race;

static void count_run(void *arg)
{
    atomic_fetch_add(&((race *)arg)->ran, 1);
}

static int submit_until_refused(void *arg)
{
    race *r = arg;
    int e;

    while ((e = filch_strand_run(&r->strand, count_run, r)) == 0) {
        atomic_fetch_add(&r->accepted, 1);
        if (atomic_load(&r->accepted) % 16 == 0)
            filch_yield();
    }
    return e;
}

static void stop_while_submitting(void)
{
    for (int i = 0; i < SCALED(100); i++) {
        race *r = calloc(1, sizeof *r);
        async_call p[3];
        CHECK(r != NULL);
        async_call_start(&p[0], submit_until_refused, r);
        async_call_start(&p[1], submit_until_refused, r);
        async_call_start_thread(&p[2], submit_until_refused, r);
        while (atomic_load(&r->accepted) < i % 50)
            filch_yield();
        CHECK_INT(filch_strand_stop(&r->strand), 0);
        for (int k = 0; k < 3; k++)
            CHECK_INT(async_call_join(&p[k]), -EPIPE);
        CHECK_INT(atomic_load(&r->accepted), atomic_load(&r->ran));
        free(r);
    }
}

static void test_stop_races(void **state)
{
    (void)state;
    workers_each(NULL, stop_while_submitting);
}

CHECK_MAIN(test_submitters, test_stop_races)
