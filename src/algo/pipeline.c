/* Pipelines: items go through stages, and who carries one never waits for another.
 *
 * There are in_flight records for items, and one baton.  Who has the baton and a record may call the first stage.  With
 * the item made, the baton goes on: to the next record, which is started as work of its own, or, when all are
 * under way, it is put down for the first that comes free.  So `spare` counts the free records, and is -1 when the
 * baton waits for one.
 *
 * A serial stage has a row of places, one for each record, and item number k waits in place k modulo in_flight.
 * Two come to a place, in either order: the item, and leave for it to enter, which item k - 1 gives when it has left the
 * stage.  Who comes second takes the item in, so nobody waits and nothing is locked.
 *
 *     place     becomes      by                      then
 *     EMPTY     the item     item k                  its carrier does something else
 *               LEAVE        who leaves after k - 1
 *     LEAVE     EMPTY        item k                  it enters
 *     an item   EMPTY        who leaves after k - 1  starts it, inside the stage
 *
 * A place is never needed by two items: were k and k + in_flight both at a stage that k has not left, so would all
 * between them be, and that is one more than there are records.  That holds because an item that ended early
 * goes on without a value, and takes its turn in the serial stages, though they are not called for it.
 */
#include <filch/algo.h>
#include <filch/job.h>
#include <filch/memory.h>
#include <filch/runtime.h>
#include <filch/task.h>

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define PER_WORKER 4 /* items in flight, where that is ours to choose */

typedef struct item {
    struct pipeline *pipeline;
    struct item *next; /* in a list of free ones, or of those still to be carried on */
    void *value;       /* NULL: it has ended */
    size_t number;
    size_t stage; /* that it is to enter; 0: it is to be made, and has the baton */
} item;

typedef _Atomic(item *) place;

typedef struct pipeline {
    const filch_stage *stages;
    size_t n;
    size_t in_flight;
    item *items;
    place *places; /* in_flight for each stage, used where it is serial */
    filch_group group;
    /* of who has the baton */
    size_t made;
    item *free;
    /* of all */
    _Atomic(item *) returned;
    atomic_ptrdiff_t spare;
} pipeline;

/* Who carries items.  What could not be started, for want of memory, is carried on by him when he is free. */
typedef struct carrier {
    item *later;
} carrier;

static item leave_to_enter;
#define LEAVE (&leave_to_enter)

static void carry(void *arg);

static void start(carrier *c, item *i)
{
    if (filch_group_run(&i->pipeline->group, carry, i) == 0)
        return;
    i->next = c->later;
    c->later = i;
}

/* ---- the baton, and free records ---- */

/* [baton] A free record; there is one, as `spare` has told. */
static item *take_free(pipeline *p)
{
    item *i = p->free;

    if (!i)
        i = atomic_exchange_explicit(&p->returned, NULL, memory_order_acquire);
    p->free = i->next;
    i->stage = 0;
    return i;
}

static void put_free(item *i)
{
    pipeline *p = i->pipeline;

    i->next = atomic_load_explicit(&p->returned, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(&p->returned, &i->next, i, memory_order_release,
                                                  memory_order_relaxed))
        continue;
}

/* Acquire and release, as who takes the baton up goes on where the last has put it down. */
static void pass_baton(carrier *c, pipeline *p)
{
    if (atomic_fetch_sub_explicit(&p->spare, 1, memory_order_acq_rel) > 0)
        start(c, take_free(p));
}

/* [carrier] The item has come to its end.  Its record may be what the baton waits for. */
static void retire(carrier *c, item *i)
{
    pipeline *p = i->pipeline;

    put_free(i);
    if (atomic_fetch_add_explicit(&p->spare, 1, memory_order_acq_rel) >= 0)
        return;
    i = take_free(p);
    i->next = c->later;
    c->later = i;
}

/* ---- stages ---- */

static bool is_serial(const pipeline *p, size_t stage)
{
    return p->stages[stage].kind == FILCH_STAGE_SERIAL;
}

static place *place_of(pipeline *p, size_t stage, size_t number)
{
    return &p->places[stage * p->in_flight + number % p->in_flight];
}

/* False: it has come too early, and is not ours any more. */
static bool enter_serial(item *i)
{
    place *at = place_of(i->pipeline, i->stage, i->number);

    if (!atomic_exchange_explicit(at, i, memory_order_acq_rel))
        return false;
    atomic_store_explicit(at, NULL, memory_order_relaxed);
    return true;
}

static void leave_serial(carrier *c, pipeline *p, size_t stage, size_t number)
{
    place *at = place_of(p, stage, number + 1);
    item *waits = atomic_exchange_explicit(at, LEAVE, memory_order_acq_rel);

    if (!waits)
        return;
    atomic_store_explicit(at, NULL, memory_order_relaxed);
    start(c, waits);
}

/* Can we run its next stage?  No: it waits there, or has come to its end. */
static bool enter(carrier *c, item *i)
{
    if (i->stage < i->pipeline->n)
        return !is_serial(i->pipeline, i->stage) || enter_serial(i);
    retire(c, i);
    return false;
}

static void *call(const filch_stage *s, void *value)
{
    return s->run(value, s->ctx);
}

/* It has entered a stage. */
static void go_through(carrier *c, item *i)
{
    pipeline *p = i->pipeline;

    do {
        if (i->value)
            i->value = call(&p->stages[i->stage], i->value);
        if (is_serial(p, i->stage))
            leave_serial(c, p, i->stage, i->number);
        i->stage++;
    } while (enter(c, i));
}

/* With the baton.  The last call gives nothing; then there is no baton any more. */
static void make(carrier *c, item *i)
{
    pipeline *p = i->pipeline;

    i->value = call(&p->stages[0], NULL);
    if (!i->value)
        return;
    i->number = p->made++;
    i->stage = 1;
    pass_baton(c, p);
    if (enter(c, i))
        go_through(c, i);
}

static void carry(void *arg)
{
    carrier c = {arg};

    c.later->next = NULL;
    while (c.later) {
        item *i = c.later;
        c.later = i->next;
        if (i->stage == 0)
            make(&c, i);
        else
            go_through(&c, i);
    }
}

/* ---- all of it ---- */

static size_t bytes(const pipeline *p)
{
    return p->in_flight * (sizeof(item) + p->n * sizeof(place));
}

/* Their number fits into spare, and their size into a size_t? */
static bool is_too_large(const pipeline *p)
{
    return p->n > SIZE_MAX / sizeof(place) / 2 ||
           p->in_flight > PTRDIFF_MAX / (sizeof(item) + p->n * sizeof(place));
}

static void set_up(pipeline *p)
{
    p->places = (place *)(void *)(p->items + p->in_flight);
    for (size_t k = 0; k < p->in_flight * p->n; k++)
        atomic_init(&p->places[k], NULL);
    for (size_t stage = 0; stage < p->n; stage++)
        atomic_init(place_of(p, stage, 0), LEAVE);
    for (size_t k = 0; k < p->in_flight; k++) {
        p->items[k] = (item){.pipeline = p, .next = p->free};
        p->free = &p->items[k];
    }
    atomic_init(&p->returned, NULL);
    atomic_init(&p->spare, (ptrdiff_t)p->in_flight - 1);
}

FILCH_TASK(int, run_pipeline, pipeline *, p)
{
    if (p->in_flight == 0)
        p->in_flight = (size_t)PER_WORKER * filch_worker_count();
    p->items = is_too_large(p) ? NULL : filch_alloc(bytes(p));
    if (!p->items)
        return -ENOMEM;
    set_up(p);
    carry(take_free(p));
    filch_group_wait(&p->group); /* its error is no news: what did not start was run all the same */
    filch_free(p->items, bytes(p));
    return 0;
}

int filch_pipeline(const filch_stage *stages, size_t n, size_t in_flight)
{
    pipeline p = {.stages = stages, .n = n, .in_flight = in_flight, .group = FILCH_GROUP_INIT};

    if (n == 0 || !stages)
        return -EINVAL;
    for (size_t i = 0; i < n; i++)
        if (!stages[i].run)
            return -EINVAL;
    return FILCH_RUN(run_pipeline, &p);
}
