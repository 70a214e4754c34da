/* A pipeline with a failing stage returns the error, calls no stage after that, and drops each item
 * that is left once, by the stage that the item is at. */
#include "seed.h"
#include "unit/algo/scarce_memory.h"
#include "unit/task/helpers.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>

#define STAGES 5

/* Each stage frees its item and creates the next one. */
typedef struct thing {
    int number;
    int at; /* the stage that gets it */
} thing;

typedef struct line line;

typedef struct step {
    line *line;
    int index;
    int next; /* of a serial stage: the smallest number that may come next */
} step;

struct line {
    step steps[STAGES];
    filch_stage_fallible stages[STAGES];
    int n, count, made;
    int fail_stage, fail_number, error;
    bool fails_without_item;
    int drop_every; /* every n-th item ends at stage 1; 0: none */
    atomic_bool failed;
    atomic_int live, ended, dropped, wrong;
};

static void wrong_if(line *l, bool condition)
{
    if (condition)
        atomic_fetch_add(&l->wrong, 1);
}

static thing *thing_new(line *l, int number, int at)
{
    thing *t = malloc(sizeof *t);

    if (!t)
        abort();
    *t = (thing){number, at};
    atomic_fetch_add(&l->live, 1);
    return t;
}

static void thing_free(line *l, thing *t)
{
    t->at = -1;
    free(t);
    atomic_fetch_sub(&l->live, 1);
}

static void drop_thing(void *item, void *ctx)
{
    step *s = ctx;
    thing *t = item;

    wrong_if(s->line, t->at != s->index || !atomic_load(&s->line->failed));
    atomic_fetch_add(&s->line->dropped, 1);
    thing_free(s->line, t);
}

/* Returns: the error of the stage, or 0. */
static int fail_at(line *l, const step *s, int number)
{
    if (s->index != l->fail_stage || number != l->fail_number)
        return 0;
    atomic_store(&l->failed, true);
    return l->error;
}

static int make_thing(void **item, void *ctx)
{
    step *s = ctx;
    line *l = s->line;
    int e = fail_at(l, s, l->made);

    wrong_if(l, *item != NULL);
    if (e == 0 && l->made == l->count)
        return 0;
    *item = e != 0 && l->fails_without_item ? NULL : thing_new(l, l->made++, e == 0 ? 1 : 0);
    if (l->n == 1 && e == 0) {
        atomic_fetch_add(&l->ended, 1);
        thing_free(l, *item);
    }
    return e;
}

static int run_step(void **item, void *ctx)
{
    step *s = ctx;
    line *l = s->line;
    thing *t = *item;
    int number = t->number;
    int e = fail_at(l, s, number);
    bool ends = s->index == l->n - 1 || (l->drop_every > 0 && number % l->drop_every == 0);

    wrong_if(l, t->at != s->index);
    if (l->stages[s->index].kind == FILCH_STAGE_SERIAL) {
        wrong_if(l, number < s->next);
        s->next = number + 1;
    }
    if (e != 0 && !l->fails_without_item)
        return e;
    thing_free(l, t);
    *item = e != 0 || ends ? NULL : thing_new(l, number, s->index + 1);
    if (e == 0 && ends)
        atomic_fetch_add(&l->ended, 1);
    return e;
}

/* Bit k of serial: stage k is serial. */
static void build(line *l, int n, unsigned serial, int count)
{
    *l = (line){.n = n, .count = count, .fail_stage = -1};
    for (int i = 0; i < n; i++) {
        l->steps[i] = (step){.line = l, .index = i};
        l->stages[i] = (filch_stage_fallible){
            i == 0 || (serial >> i & 1) ? FILCH_STAGE_SERIAL : FILCH_STAGE_PARALLEL,
            i == 0 ? make_thing : run_step, drop_thing, &l->steps[i]};
    }
}

static bool run_line(line *l, size_t in_flight)
{
    int e = filch_pipeline_fallible(l->stages, (size_t)l->n, in_flight);

    return e == (l->failed ? l->error : 0) && !l->wrong && l->live == 0 &&
           (l->failed ? l->dropped >= !l->fails_without_item : l->ended == l->count);
}

static line one;

static void no_error(void)
{
    for (int n = 1; n <= 4; n++)
        for (unsigned serial = 0; serial < 1u << n; serial += 2)
            for (size_t in_flight = 0; in_flight < 5; in_flight += 2) {
                build(&one, n, serial, SCALED(100));
                one.drop_every = (int)in_flight;
                CHECK(run_line(&one, in_flight));
                CHECK_INT(one.dropped, 0);
            }
}

/* The input has no end, so the test ends only if the error stops it. */
static void each_stage_fails(void)
{
    for (unsigned serial = 0; serial < 1u << STAGES; serial += 2)
        for (int stage = 0; stage < STAGES; stage++)
            for (int number = 0; number < 30; number += 29)
                for (int without = 0; without < 2; without++) {
                    build(&one, STAGES, serial, -1);
                    one.fail_stage = stage;
                    one.fail_number = number;
                    one.error = stage % 2 ? -EIO : 42;
                    one.fails_without_item = without;
                    CHECK(run_line(&one, (size_t)number));
                    CHECK(one.failed);
                }
}

static uint64_t random_state;

static int random_below(int below)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (int)(random_state >> 33) % below;
}

static void random_failures(void)
{
    for (int k = 0; k < SCALED(200); k++) {
        build(&one, 1 + random_below(STAGES), (unsigned)random_below(1 << STAGES),
              random_below(200));
        one.fail_stage = random_below(STAGES);
        one.fail_number = random_below(200);
        one.error = 1 + k;
        one.drop_every = random_below(4);
        CHECK(run_line(&one, (size_t)random_below(10)));
    }
}

/* ---- every item fails; a stage without a drop function ---- */

static atomic_int errors;

static int make_any(void **item, void *ctx)
{
    *item = ctx;
    return 0;
}

static int fail_any(void **item, void *ctx)
{
    (void)item, (void)ctx;
    return 1 + atomic_fetch_add(&errors, 1);
}

static void all_fail(void)
{
    char item;
    const filch_stage_fallible stages[] = {{FILCH_STAGE_SERIAL, make_any, NULL, &item},
                                           {FILCH_STAGE_PARALLEL, fail_any, NULL, NULL}};

    for (int k = 0; k < 100; k++) {
        int e;

        atomic_store(&errors, 0);
        e = filch_pipeline_fallible(stages, 2, 16);
        CHECK(e >= 1 && e <= atomic_load(&errors));
        CHECK(atomic_load(&errors) <= (int)filch_worker_count());
    }
}

/* ---- an item that is inside a stage at the error goes no further ---- */

#ifdef FILCH_SERIAL
SKIP_IN_SERIAL(running_items_stop, "second item")
#else
static struct {
    int made, later_calls;
    int drops[3]; /* by each stage */
    bool failed;
} two;

static int make_two(void **item, void *ctx)
{
    (void)ctx;
    *item = two.made < 2 ? &two.made : NULL;
    two.made++;
    return 0;
}

static int first_waits_second_fails(void **item, void *ctx)
{
    (void)item, (void)ctx;
    if (two.made == 2)
        return two.failed = true;
    while (!two.failed)
        filch_yield();
    return 0;
}

static int count_later_calls(void **item, void *ctx)
{
    (void)item, (void)ctx;
    two.later_calls++;
    return 0;
}

static void count_drops(void *item, void *ctx)
{
    (void)item;
    (*(int *)ctx)++;
}

static void running_items_stop(void **state)
{
    const filch_stage_fallible stages[] = {
        {FILCH_STAGE_SERIAL, make_two, count_drops, &two.drops[0]},
        {FILCH_STAGE_PARALLEL, first_waits_second_fails, count_drops, &two.drops[1]},
        {FILCH_STAGE_PARALLEL, count_later_calls, count_drops, &two.drops[2]}};

    (void)state;
    CHECK_INT(filch_start(&(filch_config){.workers = 1}), 0);
    CHECK_INT(filch_pipeline_fallible(stages, 3, 2), 1);
    CHECK_INT(two.later_calls, 0);
    CHECK_INT(two.drops[0], 0);
    CHECK_INT(two.drops[1], 1);
    CHECK_INT(two.drops[2], 1);
    CHECK_INT(filch_stop(), 0);
}
#endif

static void misuse(void)
{
    filch_stage_fallible stages[2];

    build(&one, 2, 0, 5);
    memcpy(stages, one.stages, sizeof stages);
    CHECK_INT(filch_pipeline_fallible(stages, 0, 0), -EINVAL);
    CHECK_INT(filch_pipeline_fallible(NULL, 2, 0), -EINVAL);
    if (!IS_SERIAL) /* that needs no memory */
        CHECK_INT(filch_pipeline_fallible(stages, 2, SIZE_MAX), -ENOMEM);
    stages[1].run = NULL;
    CHECK_INT(filch_pipeline_fallible(stages, 2, 0), -EINVAL);
    CHECK_INT(one.made, 0);
}

/* ---- little memory: items wait in their runner ---- */

#ifdef FILCH_SERIAL
SKIP_IN_SERIAL(little_memory, "allocator")
#else
static void little_memory(void **state)
{
    (void)state;
    scarce_install();
    for (unsigned long grant = 1; grant < 8; grant++)
        for (int stage = 0; stage < STAGES; stage++) {
            CHECK_INT(filch_start(&(filch_config){.workers = 2}), 0);
            build(&one, 1, 0, 1);
            CHECK(run_line(&one, 1)); /* creates a fiber and a worker's first records */
            build(&one, STAGES, 20, -1);
            one.fail_stage = stage;
            one.fail_number = 50;
            one.error = -EIO;
            scarce_begin(grant, 0);
            CHECK(run_line(&one, 40));
            scarce_end();
            CHECK(one.failed);
            CHECK_INT(filch_stop(), 0);
        }
    CHECK_INT(filch_set_allocator(NULL), 0);
}
#endif

#define EACH(name)                                                                                 \
    static void name##_each(void **state)                                                          \
    {                                                                                              \
        (void)state;                                                                               \
        workers_each(NULL, name);                                                                  \
    }
EACH(no_error)
EACH(each_stage_fails)
EACH(all_fail)
EACH(misuse)

static void random_failures_each(void **state)
{
    (void)state;
    random_state = seed_get();
    workers_each(NULL, random_failures);
}

CHECK_MAIN(no_error_each, each_stage_fails_each, random_failures_each, all_fail_each,
           running_items_stop, misuse_each, little_memory)
