/* Strands: order, one function at a time, call, wait, stop, and what a function may do. */
#include "unit/fiber/helpers.h"

#include <fenv.h>

/* ---- order ---- */

enum { MANY = 1000 };

typedef struct recorder {
    filch_strand strand;
    int order[MANY];
    int n;
    atomic_int inside, overlaps;
} recorder;

static recorder rec;

static void recorder_reset(void)
{
    memset(&rec, 0, sizeof rec);
}

static void record(void *arg)
{
    if (atomic_fetch_add(&rec.inside, 1) != 0)
        atomic_fetch_add(&rec.overlaps, 1);
    rec.order[rec.n++] = (int)(intptr_t)arg;
    atomic_fetch_sub(&rec.inside, 1);
}

/* Every third function waits. */
static void record_and_wait(void *arg)
{
    if (atomic_fetch_add(&rec.inside, 1) != 0)
        atomic_fetch_add(&rec.overlaps, 1);
    if ((intptr_t)arg % 3 == 0)
        filch_yield();
    if ((intptr_t)arg % 100 == 0)
        filch_sleep(FILCH_US(10));
    rec.order[rec.n++] = (int)(intptr_t)arg;
    atomic_fetch_sub(&rec.inside, 1);
}

static int in_order(void)
{
    recorder_reset();
    for (intptr_t i = 0; i < MANY; i++)
        EXPECT(filch_strand_run(&rec.strand, i % 2 ? record : record_and_wait, (void *)i) == 0);
    EXPECT(filch_strand_wait(&rec.strand) == 0);
    EXPECT(rec.n == MANY && atomic_load(&rec.overlaps) == 0);
    for (int i = 0; i < MANY; i++)
        EXPECT(rec.order[i] == i);
    EXPECT(filch_strand_stop(&rec.strand) == 0);
    return 0;
}
EVERYWHERE(in_order)

/* ---- call and wait ---- */

typedef struct counter {
    filch_strand strand;
    int value;
} counter;

static void add_one(void *c)
{
    ((counter *)c)->value++;
}

static int call_runs_after_the_others(void)
{
    counter c = {FILCH_STRAND_INIT, 0};

    EXPECT(filch_strand_wait(&c.strand) == 0);
    for (int i = 1; i <= 20; i++) {
        EXPECT(filch_strand_call(&c.strand, add_one, &c) == 0);
        EXPECT(c.value == 2 * i - 1);
        EXPECT(filch_strand_run(&c.strand, add_one, &c) == 0);
        EXPECT(filch_strand_wait(&c.strand) == 0);
        EXPECT(c.value == 2 * i);
    }
    EXPECT(filch_strand_stop(&c.strand) == 0);
    EXPECT(c.value == 40);
    return 0;
}
EVERYWHERE(call_runs_after_the_others)

/* A function that submits itself again, until the strand is stopped. */
typedef struct loop {
    filch_strand strand;
    atomic_int rounds;
} loop;

static void run_again(void *arg)
{
    loop *l = arg;

    atomic_fetch_add(&l->rounds, 1);
    filch_strand_run(&l->strand, run_again, l); /* -EPIPE after the stop */
}

/* The strand does not keep its worker, and a wait does not wait for later functions. */
static int endless_strand(void)
{
    loop l = {.rounds = 0};

    EXPECT(filch_strand_run(&l.strand, run_again, &l) == 0);
    for (int i = 0; i < 5; i++) {
        int before = atomic_load(&l.rounds);
        EXPECT(filch_strand_wait(&l.strand) == 0); /* for the function that is counted already */
        EXPECT(filch_strand_wait(&l.strand) == 0);
        EXPECT(atomic_load(&l.rounds) > before);
        filch_yield();
    }
    EXPECT(filch_strand_stop(&l.strand) == 0);
    return 0;
}
EVERYWHERE(endless_strand)

static void wait_for_event(void *e)
{
    filch_event_wait(e);
}

static int function_may_wait(void)
{
    filch_event e = FILCH_EVENT_INIT;
    counter c = {.value = 0};

    EXPECT(filch_strand_run(&c.strand, wait_for_event, &e) == 0);
    EXPECT(filch_strand_run(&c.strand, add_one, &c) == 0);
    await_waiting(&e, 1);
    EXPECT(c.value == 0);
    filch_event_set(&e);
    EXPECT(filch_strand_stop(&c.strand) == 0);
    EXPECT(c.value == 1);
    return 0;
}
EVERYWHERE(function_may_wait)

/* ---- stop ---- */

static int stopped(void)
{
    counter c = {.value = 0};

    EXPECT(filch_strand_stop(&c.strand) == 0); /* never used */
    EXPECT(filch_strand_run(&c.strand, add_one, &c) == -EPIPE);
    c = (counter){.value = 0};
    for (int i = 0; i < 100; i++)
        EXPECT(filch_strand_run(&c.strand, add_one, &c) == 0);
    EXPECT(filch_strand_stop(&c.strand) == 0);
    EXPECT(c.value == 100);
    EXPECT(filch_strand_run(&c.strand, add_one, &c) == -EPIPE);
    EXPECT(filch_strand_call(&c.strand, add_one, &c) == -EPIPE);
    EXPECT(filch_strand_wait(&c.strand) == 0);
    EXPECT(filch_strand_stop(&c.strand) == 0);
    EXPECT(c.value == 100);
    return 0;
}
EVERYWHERE(stopped)

typedef struct stop_case {
    counter counter;
    filch_event go;
    atomic_int late; /* result of a submission after the stop */
} stop_case;

static int stop_strand(void *arg)
{
    stop_case *s = arg;
    int e = filch_strand_stop(&s->counter.strand);

    return e == 0 ? s->counter.value : e;
}

static void wait_then_submit(void *arg)
{
    stop_case *s = arg;

    filch_event_wait(&s->go);
    atomic_store(&s->late, filch_strand_run(&s->counter.strand, add_one, &s->counter));
}

/* Several callers stop the strand while a function waits; all functions that were submitted run. */
static int stop_waits(void)
{
    stop_case s = {.late = 1};
    async_call p, q;

    EXPECT(filch_strand_run(&s.counter.strand, wait_then_submit, &s) == 0);
    EXPECT(filch_strand_run(&s.counter.strand, add_one, &s.counter) == 0);
    await_waiting(&s.go, 1);
    async_call_start(&p, stop_strand, &s);
    async_call_start_thread(&q, stop_strand, &s);
    await_waiting(&s.counter.strand, 2);
    EXPECT(filch_strand_run(&s.counter.strand, add_one, &s.counter) == -EPIPE);
    filch_event_set(&s.go);
    EXPECT(async_call_join(&p) == 1 && async_call_join(&q) == 1);
    EXPECT(atomic_load(&s.late) == -EPIPE);
    return 0;
}
EVERYWHERE(stop_waits)

/* filch_stop() waits for the functions of a strand, also for those that wait. */
static void test_runtime_stop_waits(void **state)
{
    (void)state;
    for (unsigned workers = 1; workers <= 4; workers *= 2) {
        recorder_reset();
        CHECK_INT(filch_start(&(filch_config){.workers = workers}), 0);
        for (intptr_t i = 0; i < MANY; i++)
            CHECK_INT(filch_strand_run(&rec.strand, record_and_wait, (void *)i), 0);
        CHECK_INT(filch_stop(), 0);
        CHECK_INT(rec.n, MANY);
        CHECK_INT(filch_strand_run(&rec.strand, add_one, &(counter){.value = 0}), 0);
        CHECK_INT(filch_strand_stop(&rec.strand), 0); /* in the runtime that started by itself */
        CHECK_INT(filch_stop(), 0);
    }
}

/* ---- what a function may do ---- */

typedef struct self_case {
    filch_strand strand, other;
    int call, wait, stop, run, other_call;
    counter *counter;
} self_case;

static void use_own_strand(void *arg)
{
    self_case *s = arg;

    s->call = filch_strand_call(&s->strand, add_one, s->counter);
    s->wait = filch_strand_wait(&s->strand);
    s->stop = filch_strand_stop(&s->strand);
    s->run = filch_strand_run(&s->strand, add_one, s->counter);
    s->other_call = filch_strand_call(&s->other, add_one, s->counter);
}

static int own_strand(void)
{
    counter c = {.value = 0};
    self_case s = {.counter = &c};

    EXPECT(filch_strand_call(&s.strand, use_own_strand, &s) == 0);
    EXPECT(s.call == -EDEADLK && s.wait == -EDEADLK && s.stop == -EDEADLK);
    EXPECT(s.run == 0 && s.other_call == 0);
    EXPECT(filch_strand_stop(&s.strand) == 0 && filch_strand_stop(&s.other) == 0);
    EXPECT(c.value == 2);
    return 0;
}
EVERYWHERE(own_strand)

/* Cancellation, name, storage and floating-point modes of a function end with it. */
typedef struct traces {
    filch_strand strand;
    int key;
    atomic_int destroyed;
    int wrong;
} traces;

static void count_destroyed(void *arg)
{
    atomic_fetch_add(&((traces *)arg)->destroyed, 1);
}

static void leave_traces(void *arg)
{
    traces *t = arg;
    const char *name = filch_fiber_name(NULL);

    if (filch_fiber_is_cancelled() || filch_fls_get(t->key) || fegetround() != FE_TONEAREST)
        t->wrong++;
    if (name && strcmp(name, "mine") == 0)
        t->wrong++;
    filch_fiber_set_name("mine");
    filch_fls_set(t->key, t);
    fesetround(FE_UPWARD);
    filch_fiber_cancel(filch_fiber_self());
    if (filch_sleep(FILCH_S(100)) != -ECANCELED)
        t->wrong++;
}

static int functions_are_separate(void)
{
    traces t = {.wrong = 0};

    t.key = filch_fls_new(count_destroyed);
    EXPECT(t.key >= 0);
    for (int i = 0; i < 5; i++)
        EXPECT(filch_strand_run(&t.strand, leave_traces, &t) == 0);
    EXPECT(filch_strand_stop(&t.strand) == 0);
    EXPECT(t.wrong == 0 && atomic_load(&t.destroyed) == 5);
    filch_fls_free(t.key);
    return 0;
}
EVERYWHERE(functions_are_separate)

/* ---- waiting callers ---- */

static void *call_add_one(void *arg)
{
    counter *c = arg;

    return (void *)(intptr_t)filch_strand_call(&c->strand, add_one, c);
}

/* A cancelled caller still waits: its function may use its stack. */
static int cancelled_caller(void)
{
    filch_event e = FILCH_EVENT_INIT;
    counter c = {.value = 0};
    filch_fiber *f;

    EXPECT(filch_strand_run(&c.strand, wait_for_event, &e) == 0);
    f = filch_fiber_start(call_add_one, &c);
    await_parked(f, "strand");
    filch_fiber_cancel(f);
    await_parked(f, "strand");
    EXPECT(c.value == 0);
    filch_event_set(&e);
    EXPECT(join(f) == 0);
    EXPECT(c.value == 1);
    EXPECT(filch_strand_stop(&c.strand) == 0);
    return 0;
}
EVERYWHERE(cancelled_caller)

CHECK_MAIN(test_in_order, test_call_runs_after_the_others, test_endless_strand,
           test_function_may_wait, test_stopped, test_stop_waits, test_runtime_stop_waits,
           test_own_strand, test_functions_are_separate, test_cancelled_caller)
