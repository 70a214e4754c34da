/* Pipelines.  A runner takes items through stages and never blocks for another item.
 *
 * There are in_flight item records and one input token.  A runner with the token and a free record
 * calls the first stage.  After that the token goes to the next free record, which is started as
 * separate work.  If no record is free, the token waits for one.  `n_free` counts the free records;
 * it is -1 while the token waits.
 *
 * A serial stage has one slot for each record.  Item k uses slot k modulo in_flight.  Two parties
 * come to a slot, in either order: item k, and the runner that has finished item k - 1, which
 * leaves the turn.  The second of them runs item k.  So no party waits and no lock is needed.
 *
 *     slot      becomes      by                      then
 *     EMPTY     the item     item k                  its runner continues with other items
 *               TURN         the runner of k - 1
 *     TURN      EMPTY        item k                  it enters the stage
 *     an item   EMPTY        the runner of k - 1     starts it inside the stage
 *
 * Two items never need the same slot.  If k and k + in_flight were both at a stage that k has not
 * left, so would be all items between them, which is one more than there are records.  For this to
 * hold, an item that ended early continues without a value and takes its turn in serial stages,
 * though they are not called for it.
 *
 * After an error each runner leaves its items where they are and returns.  When all runners have
 * returned, the caller drops the values that are left in the records.
 */
#include "base/message.h"

#include <filch/algo.h>
#include <filch/job.h>
#include <filch/memory.h>
#include <filch/runtime.h>
#include <filch/task.h>

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define ITEMS_PER_WORKER 4 /* default of in_flight */

typedef struct item {
    struct pipeline *pipeline;
    struct item *next; /* in the list of free records, or of a runner's pending items */
    void *value;       /* NULL: it ended early, or the record is free */
    size_t number;
    size_t stage; /* the next one; 0: the item holds the input token and is not produced yet */
} item;

typedef _Atomic(item *) slot;

typedef struct pipeline {
    const filch_stage *stages; /* this or the next is set */
    const filch_stage_fallible *fallible_stages;
    size_t n;
    size_t in_flight;
    item *items;
    slot *slots; /* in_flight for each stage; only serial stages use them */
    filch_group group;
    /* of the token's holder */
    size_t n_produced;
    item *free;
    /* shared */
    _Atomic(item *) returned;
    atomic_ptrdiff_t n_free;
    atomic_int error; /* the first one; relaxed, because no other data depends on it */
} pipeline;

/* Pending items are those that could not be started for lack of memory.  The runner runs them
 * itself. */
typedef struct runner {
    item *pending;
} runner;

static item turn;
#define TURN (&turn)

static void run_items(void *arg);

static void start_item(runner *r, item *i)
{
    if (filch_group_run(&i->pipeline->group, run_items, i) == 0)
        return;
    i->next = r->pending;
    r->pending = i;
}

/* ---- the input token and free records ---- */

/* [token holder] n_free has shown that there is a free record. */
static item *alloc_item(pipeline *p)
{
    item *i = p->free;

    if (!i)
        i = atomic_exchange_explicit(&p->returned, NULL, memory_order_acquire);
    p->free = i->next;
    i->stage = 0;
    return i;
}

static void free_item(item *i)
{
    pipeline *p = i->pipeline;

    i->next = atomic_load_explicit(&p->returned, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(&p->returned, &i->next, i, memory_order_release,
                                                  memory_order_relaxed))
        continue;
}

/* Acquire and release: the next holder continues where the last one stopped. */
static void pass_input_token(runner *r, pipeline *p)
{
    if (atomic_fetch_sub_explicit(&p->n_free, 1, memory_order_acq_rel) > 0)
        start_item(r, alloc_item(p));
}

/* [runner] The token may be waiting for the record of this item. */
static void finish_item(runner *r, item *i)
{
    pipeline *p = i->pipeline;

    i->value = NULL;
    free_item(i);
    if (atomic_fetch_add_explicit(&p->n_free, 1, memory_order_acq_rel) >= 0)
        return;
    i = alloc_item(p);
    i->next = r->pending;
    r->pending = i;
}

/* ---- stages ---- */

static bool is_serial(const pipeline *p, size_t stage)
{
    filch_stage_kind kind = p->stages ? p->stages[stage].kind : p->fallible_stages[stage].kind;

    return kind == FILCH_STAGE_SERIAL;
}

static slot *slot_of(pipeline *p, size_t stage, size_t number)
{
    return &p->slots[stage * p->in_flight + number % p->in_flight];
}

/* Returns: false if its turn has not come.  Then the item belongs to another runner. */
static bool enter_serial(item *i)
{
    slot *at = slot_of(i->pipeline, i->stage, i->number);

    if (!atomic_exchange_explicit(at, i, memory_order_acq_rel))
        return false;
    atomic_store_explicit(at, NULL, memory_order_relaxed);
    return true;
}

static void leave_serial(runner *r, pipeline *p, size_t stage, size_t number)
{
    slot *at = slot_of(p, stage, number + 1);
    item *waits = atomic_exchange_explicit(at, TURN, memory_order_acq_rel);

    if (!waits)
        return;
    atomic_store_explicit(at, NULL, memory_order_relaxed);
    start_item(r, waits);
}

/* Returns: false if the item waits for its turn or has left the last stage. */
static bool enter_stage(runner *r, item *i)
{
    if (i->stage < i->pipeline->n)
        return !is_serial(i->pipeline, i->stage) || enter_serial(i);
    finish_item(r, i);
    return false;
}

static bool has_failed(const pipeline *p)
{
    return atomic_load_explicit(&p->error, memory_order_relaxed) != 0;
}

/* Returns: false if the stage has failed. */
static bool call_fallible_stage(pipeline *p, item *i)
{
    const filch_stage_fallible *s = &p->fallible_stages[i->stage];
    int none = 0;
    int e = s->run(&i->value, s->ctx);

    if (e == 0)
        return true;
    atomic_compare_exchange_strong_explicit(&p->error, &none, e, memory_order_relaxed,
                                            memory_order_relaxed);
    return false;
}

static bool call_stage(pipeline *p, item *i)
{
    const filch_stage *s;

    if (!p->stages)
        return call_fallible_stage(p, i);
    s = &p->stages[i->stage];
    i->value = s->run(i->value, s->ctx);
    return true;
}

/* The item has entered its stage. */
static void run_stages(runner *r, item *i)
{
    pipeline *p = i->pipeline;

    do {
        if (has_failed(p) || (i->value && !call_stage(p, i)))
            return;
        if (is_serial(p, i->stage))
            leave_serial(r, p, i->stage, i->number);
        i->stage++;
    } while (enter_stage(r, i));
}

/* [token holder] The last call of the first stage returns NULL and ends the token. */
static void produce_item(runner *r, item *i)
{
    pipeline *p = i->pipeline;

    if (!call_stage(p, i) || !i->value)
        return;
    i->number = p->n_produced++;
    i->stage = 1;
    pass_input_token(r, p);
    if (enter_stage(r, i))
        run_stages(r, i);
}

static void run_items(void *arg)
{
    runner r = {arg};

    r.pending->next = NULL;
    while (r.pending && !has_failed(r.pending->pipeline)) {
        item *i = r.pending;
        r.pending = i->next;
        if (i->stage == 0)
            produce_item(&r, i);
        else
            run_stages(&r, i);
    }
}

/* ---- the pipeline ---- */

static size_t pipeline_bytes(const pipeline *p)
{
    return p->in_flight * (sizeof(item) + p->n * sizeof(slot));
}

/* Whether n_free cannot count the records, or a size_t cannot hold their size. */
static bool is_too_large(const pipeline *p)
{
    return p->n > SIZE_MAX / sizeof(slot) / 2 ||
           p->in_flight > PTRDIFF_MAX / (sizeof(item) + p->n * sizeof(slot));
}

static void pipeline_init(pipeline *p)
{
    p->slots = (slot *)(void *)(p->items + p->in_flight);
    for (size_t k = 0; k < p->in_flight * p->n; k++)
        atomic_init(&p->slots[k], NULL);
    for (size_t stage = 0; stage < p->n; stage++)
        atomic_init(slot_of(p, stage, 0), TURN);
    for (size_t k = 0; k < p->in_flight; k++) {
        p->items[k] = (item){.pipeline = p, .next = p->free};
        p->free = &p->items[k];
    }
    atomic_init(&p->returned, NULL);
    atomic_init(&p->n_free, (ptrdiff_t)p->in_flight - 1);
}

/* All runners have returned. */
static void drop_items(const pipeline *p)
{
    for (size_t k = 0; k < p->in_flight; k++) {
        const item *i = &p->items[k];
        const filch_stage_fallible *s = &p->fallible_stages[i->stage];

        if (i->value && s->drop)
            s->drop(i->value, s->ctx);
    }
}

/* Without a runtime there is one item at a time, because work that starts runs as a nested call. */
static void choose_in_flight(pipeline *p)
{
    size_t workers = filch_worker_count();

    if (workers == 0)
        p->in_flight = 1;
    else if (p->in_flight == 0)
        p->in_flight = ITEMS_PER_WORKER * workers;
}

FILCH_TASK(int, run_pipeline, pipeline *, p)
{
    choose_in_flight(p);
    p->items = is_too_large(p) ? NULL : filch_alloc(pipeline_bytes(p));
    if (!p->items)
        return -ENOMEM;
    pipeline_init(p);
    run_items(alloc_item(p));
    filch_group_wait(&p->group); /* an item that could not be started was run by its runner */
    if (has_failed(p))
        drop_items(p);
    filch_free(p->items, pipeline_bytes(p));
    return atomic_load_explicit(&p->error, memory_order_relaxed);
}

static int no_stages(const char *function)
{
    return fi_message_invalid("%s: stages: there are none; give at least one", function);
}

static int check_stage(const char *function, size_t stage, filch_stage_kind kind, bool has_run)
{
    if (!has_run)
        return fi_message_invalid("%s: stages: no function (stage %zu); set run", function, stage);
    if (kind != FILCH_STAGE_SERIAL && kind != FILCH_STAGE_PARALLEL)
        return fi_message_invalid("%s: stages: not a filch_stage_kind (stage %zu: %d); use a "
                                  "constant of that type",
                                  function, stage, (int)kind);
    return 0;
}

int filch_pipeline(const filch_stage *stages, size_t n, size_t in_flight)
{
    pipeline p = {
        .stages = stages, .n = n, .in_flight = in_flight, .group = FILCH_GROUP_DROPS_NOTHING_};

    if (n == 0 || !stages)
        return no_stages("filch_pipeline");
    for (size_t i = 0; i < n; i++)
        if (check_stage("filch_pipeline", i, stages[i].kind, stages[i].run) < 0)
            return -EINVAL;
    return FILCH_RUN(run_pipeline, &p);
}

int filch_pipeline_fallible(const filch_stage_fallible *stages, size_t n, size_t in_flight)
{
    pipeline p = {.fallible_stages = stages,
                  .n = n,
                  .in_flight = in_flight,
                  .group = FILCH_GROUP_DROPS_NOTHING_};

    if (n == 0 || !stages)
        return no_stages("filch_pipeline_fallible");
    for (size_t i = 0; i < n; i++)
        if (check_stage("filch_pipeline_fallible", i, stages[i].kind, stages[i].run) < 0)
            return -EINVAL;
    return FILCH_RUN(run_pipeline, &p);
}
