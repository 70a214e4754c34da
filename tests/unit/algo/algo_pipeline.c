/* Each item goes through all stages, through serial ones one at a time and in order.  No more than
 * in_flight items exist at a time. */
#include "seed.h"
#include "unit/algo/scarce_memory.h"
#include "unit/task/helpers.h"

#include <filch/job.h>

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#define STAGES 6
#define N_MAX  400

typedef struct thing {
    int number;
    int stages; /* passed so far */
} thing;

typedef struct line line;

typedef struct step {
    line *line;
    int index;
    bool serial;
    atomic_int inside;
    int next; /* of a serial stage: the smallest number that may come next */
    atomic_int calls;
    int drop_every; /* every n-th item ends here; 0: none */
    unsigned work;
} step;

struct line {
    thing things[N_MAX];
    step steps[STAGES];
    filch_stage stages[STAGES];
    int n, count, made;
    int most; /* in flight */
    atomic_int in_flight, wrong, ended;
};

static void wrong_if(line *l, bool condition)
{
    if (condition)
        atomic_fetch_add(&l->wrong, 1);
}

static bool drops(const step *s, const thing *t)
{
    return s->drop_every > 0 && t->number % s->drop_every == 0;
}

static void spend(unsigned work)
{
    for (volatile unsigned i = 0; i < work; i++)
        continue;
}

static void *end_here(line *l, thing *t, void *result)
{
    (void)t;
    atomic_fetch_add(&l->ended, 1);
    atomic_fetch_sub(&l->in_flight, 1);
    return result;
}

static void *make_thing(void *nothing, void *ctx)
{
    step *s = ctx;
    line *l = s->line;
    thing *t = &l->things[l->made];

    wrong_if(l, nothing != NULL || atomic_fetch_add(&s->inside, 1) != 0);
    atomic_fetch_add(&s->calls, 1);
    spend(s->work);
    atomic_fetch_sub(&s->inside, 1);
    if (l->made == l->count)
        return NULL;
    *t = (thing){l->made++, 1};
    wrong_if(l, atomic_fetch_add(&l->in_flight, 1) >= l->most);
    return l->n == 1 ? end_here(l, t, t) : t;
}

static void check_serial(step *s, const thing *t)
{
    wrong_if(s->line, t->number < s->next);
    s->next = t->number + 1;
}

static void *run_step(void *item, void *ctx)
{
    step *s = ctx;
    line *l = s->line;
    thing *t = item;
    int others = atomic_fetch_add(&s->inside, 1);

    wrong_if(l, t->stages++ != s->index);
    atomic_fetch_add(&s->calls, 1);
    wrong_if(l, s->serial && others != 0);
    if (s->serial)
        check_serial(s, t);
    spend(s->work);
    atomic_fetch_sub(&s->inside, 1);
    if (drops(s, t))
        return end_here(l, t, NULL);
    return s->index == l->n - 1 ? end_here(l, t, t) : t;
}

/* Bit k of serial: stage k is serial. */
static void build(line *l, int n, unsigned serial, int count)
{
    memset(l, 0, sizeof *l);
    l->n = n;
    l->count = count;
    for (int i = 0; i < n; i++) {
        l->steps[i] = (step){.line = l, .index = i, .serial = i == 0 || (serial >> i & 1)};
        l->stages[i] = (filch_stage){l->steps[i].serial ? FILCH_STAGE_SERIAL : FILCH_STAGE_PARALLEL,
                                     i == 0 ? make_thing : run_step, &l->steps[i]};
    }
}

/* Expected number of items at a stage. */
static int expected(const line *l, int stage)
{
    int n = 0;

    for (int k = 0; k < l->count; k++) {
        bool there = true;
        for (int i = 1; i < stage; i++)
            there = there && !drops(&l->steps[i], &l->things[k]);
        n += there;
    }
    return n;
}

static bool run_line(line *l, size_t in_flight)
{
    l->most = in_flight == 0 ? 4 * (int)filch_worker_count() : (int)in_flight;
    if (filch_pipeline(l->stages, (size_t)l->n, in_flight) != 0 || l->wrong || l->in_flight)
        return false;
    if (l->steps[0].calls != l->count + 1 || l->ended != l->count)
        return false;
    for (int i = 1; i < l->n; i++)
        if (l->steps[i].calls != expected(l, i))
            return false;
    return true;
}

static line one;

static void all_shapes(void)
{
    static const size_t in_flight[] = {0, 1, 2, 3, 7, 1000};
    static const int counts[] = {0, 1, 2, SCALED(200)};

    for (int n = 1; n <= 4; n++)
        for (unsigned serial = 0; serial < 1u << n; serial += 2)
            for (size_t i = 0; i < 6; i++)
                for (size_t k = 0; k < 4; k++) {
                    build(&one, n, serial, counts[k]);
                    CHECK(run_line(&one, in_flight[i]));
                }
}

/* An item that ends early reaches no later stage and does not delay the items behind it. */
static void some_end_early(void)
{
    for (unsigned serial = 0; serial < 64; serial += 2)
        for (int at = 1; at < STAGES; at++) {
            build(&one, STAGES, serial, SCALED(300));
            one.steps[at].drop_every = 3;
            one.steps[STAGES - 1].drop_every = 1;
            CHECK(run_line(&one, (size_t)at));
        }
}

static uint64_t random_state;

static unsigned random_below(unsigned below)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(random_state >> 33) % below;
}

static void random_shapes(void)
{
    for (int k = 0; k < SCALED(100); k++) {
        build(&one, 1 + (int)random_below(STAGES), random_below(64), (int)random_below(N_MAX));
        for (int i = 0; i < one.n; i++) {
            one.steps[i].work = random_below(4) == 0 ? random_below(5000) : random_below(100);
            one.steps[i].drop_every = i > 0 && random_below(4) == 0 ? 1 + (int)random_below(5) : 0;
        }
        CHECK(run_line(&one, random_below(10)));
    }
}

/* ---- a waiting item does not delay others in a parallel stage ---- */

static atomic_int passed;
static int to_make;

static void *count_down(void *nothing, void *ctx)
{
    (void)nothing;
    return to_make-- > 0 ? ctx : NULL;
}

static void spin_shortly(void *arg)
{
    spend(*(unsigned *)arg);
}

/* Parks while other workers run the group. */
static void *wait_for_a_group(void *item, void *ctx)
{
    filch_group g = FILCH_GROUP_INIT;
    unsigned work = 1000;

    (void)ctx;
    for (int i = 0; i < 3; i++)
        filch_group_run(&g, spin_shortly, &work);
    filch_group_wait(&g);
    atomic_fetch_add(&passed, 1);
    return item;
}

static void add_up(size_t lo, size_t hi, void *ctx)
{
    atomic_fetch_add((atomic_size_t *)ctx, hi - lo);
}

static void *loop(void *item, void *ctx)
{
    atomic_size_t sum = 0;

    (void)ctx;
    filch_for(0, 1000, 10, add_up, &sum);
    return sum == 1000 ? item : NULL;
}

static void stages_that_wait(void)
{
    char item;
    filch_stage stages[] = {{FILCH_STAGE_SERIAL, count_down, &item},
                            {FILCH_STAGE_PARALLEL, loop, NULL},
                            {FILCH_STAGE_PARALLEL, wait_for_a_group, NULL},
                            {FILCH_STAGE_SERIAL, loop, NULL},
                            {FILCH_STAGE_SERIAL, wait_for_a_group, NULL}};

    to_make = SCALED(200);
    atomic_store(&passed, 0);
    CHECK_INT(filch_pipeline(stages, 5, 0), 0);
    CHECK_INT(passed, 2 * SCALED(200));
}

/* ---- pipelines in pipelines, in tasks, in threads ---- */

static bool run_small(unsigned serial, size_t in_flight)
{
    line *l = malloc(sizeof *l);
    bool right;

    if (!l)
        return false;
    build(l, 4, serial, 50);
    l->steps[2].drop_every = 4;
    right = run_line(l, in_flight);
    free(l);
    return right;
}

static void *run_another(void *item, void *ctx)
{
    (void)ctx;
    if (run_small(6, 3))
        atomic_fetch_add(&passed, 1);
    return item;
}

static void nested(void)
{
    char item;
    filch_stage stages[] = {{FILCH_STAGE_SERIAL, count_down, &item},
                            {FILCH_STAGE_PARALLEL, run_another, NULL},
                            {FILCH_STAGE_SERIAL, run_another, NULL}};

    to_make = 20;
    atomic_store(&passed, 0);
    CHECK_INT(filch_pipeline(stages, 3, 5), 0);
    CHECK_INT(passed, 40);
}

FILCH_TASK(int, in_tasks, int, depth)
{
    int a, b;

    if (depth == 0)
        return run_small(10, 2) + run_small(0, 0);
    FILCH_SPAWN(in_tasks, depth - 1);
    a = FILCH_CALL(in_tasks, depth - 1);
    b = FILCH_SYNC(in_tasks);
    return a + b;
}

static void from_tasks(void)
{
    CHECK_INT(FILCH_RUN(in_tasks, 4), 32);
}

static void *in_thread(void *arg)
{
    for (unsigned i = 0; i < 20; i++)
        if (!run_small(i, i % 5))
            return arg;
    return NULL;
}

static void from_threads(void)
{
    pthread_t thread[4];

    for (int i = 0; i < 4; i++)
        CHECK_INT(pthread_create(&thread[i], NULL, in_thread, thread), 0);
    for (int i = 0; i < 4; i++) {
        void *failed;
        CHECK_INT(pthread_join(thread[i], &failed), 0);
        CHECK(failed == NULL);
    }
}

/* ---- errors ---- */

static void misuse(void)
{
    filch_stage stages[2];

    build(&one, 2, 0, 5);
    memcpy(stages, one.stages, sizeof stages);
    CHECK_INT(filch_pipeline(stages, 0, 0), -EINVAL);
    CHECK_INT(filch_pipeline(NULL, 2, 0), -EINVAL);
    stages[1].run = NULL;
    CHECK_INT(filch_pipeline(stages, 2, 0), -EINVAL);
    stages[1].run = run_step;
    if (IS_SERIAL)
        return; /* needs no memory */
    CHECK_INT(filch_pipeline(stages, 2, SIZE_MAX), -ENOMEM);
    for (size_t part = 2; part <= 64;
         part++) /* the size in bytes would overflow to a small number */
        CHECK_INT(filch_pipeline(stages, 2, SIZE_MAX / part + 1), -ENOMEM);
    CHECK_INT(one.steps[0].calls, 0);
}

#ifdef FILCH_SERIAL
SKIP_IN_SERIAL(little_memory, "allocator")
#else
/* With little memory, either all items pass or none is produced. */
static void check_little_memory(unsigned long grant, unsigned long first)
{
    int e;

    build(&one, STAGES, 20, 300);
    one.most = 100;
    scarce_begin(grant, first);
    e = filch_pipeline(one.stages, STAGES, 100);
    scarce_end();
    CHECK_INT(e, first % grant == 0 ? 0 : -ENOMEM);
    CHECK_INT(one.ended, e == 0 ? 300 : 0);
    CHECK_INT(one.steps[0].calls, e == 0 ? 301 : 0);
    CHECK_INT(one.wrong, 0);
}

static void little_memory(void **state)
{
    (void)state;
    scarce_install();
    for (unsigned long grant = 1; grant < 8; grant++)
        for (unsigned long first = 0; first < 2; first++) {
            CHECK_INT(filch_start(&(filch_config){.workers = 2}), 0);
            build(&one, 1, 0, 1);
            CHECK(run_line(&one, 1)); /* creates a fiber and a worker's first records */
            check_little_memory(grant, first);
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
EACH(all_shapes)
EACH(some_end_early)
EACH(stages_that_wait)
EACH(nested)
EACH(from_tasks)
EACH(from_threads)
EACH(misuse)

static void random_shapes_each(void **state)
{
    (void)state;
    random_state = seed_get();
    workers_each(NULL, random_shapes);
}

CHECK_MAIN(all_shapes_each, some_end_early_each, random_shapes_each, stages_that_wait_each,
           nested_each, from_tasks_each, from_threads_each, misuse_each, little_memory)
