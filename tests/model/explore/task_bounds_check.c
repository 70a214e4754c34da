/* A request for work is not lost: while a worker sleeps, a fiber with private tasks will see the
 * request.
 *
 * The fiber has `capacity` private tasks.  Owner, the fiber: N spawn, Y sync, both of which handle
 * a request, M (only as the first letter) create the fiber.  Thief: T find a public task and take
 * it, with a request before it sleeps.  While a worker sleeps, no task is public, and the fiber has
 * no private task or a request. */
#include "explore/kind.h"

#include "base/futex.h"
#include "explore/workers.h"
#include "sched/task_bounds.h"

enum { MAX_TASKS = 4 };
enum { FIBER = 0 }; /* the memory of the fiber */

typedef struct state {
    workers workers;
    fi_task_bounds bounds;
} state;

static state *at;
static FI_ATOMIC(fi_task_bounds *) current;
static FI_ATOMIC(uint32_t) deque[MAX_TASKS]; /* 1: this task is public */
static char slots[MAX_TASKS + 1];
static unsigned published, taken; /* their number; one bit per task */

static void setup(void)
{
    static const char *const words[] = {"deque[0]", "deque[1]", "deque[2]", "deque[3]"};
    published = taken = 0;
    at = FI_NEW(state);
    workers_init(&at->workers);
    x_init(&current, *program_now->owner == 'M' ? 0 : X_BITS(&at->bounds), "current");
    x_init(&at->bounds.limit, X_BITS(FI_LIMIT_REQUESTED), "limit");
    x_init(&at->bounds.floor, X_BITS(FI_FLOOR_REQUESTED), "floor");
    if (program_now->capacity > MAX_TASKS)
        x_fail(LIMIT, "at most %d tasks", MAX_TASKS);
    for (uint32_t i = 0; i < program_now->capacity; i++)
        x_init(&deque[i], 0, words[i]);
}

static bool deque_empty(void)
{
    for (uint32_t i = 0; i < program_now->capacity; i++)
        if (fi_load_relaxed(&deque[i]))
            return false;
    return true;
}

/* ---- the fiber, as in task/task.c ---- */

static bool publish(void)
{
    if (published == program_now->capacity)
        return false;
    x_say("publish %c", 'A' + (int)published);
    fi_store_relaxed(&deque[published++], 1);
    fi_idle_notify(&at->workers.idle);
    return true;
}

static void handle_request(void)
{
    char *floor = &slots[published];
    x_say("handle the request");
    fi_task_bounds_reset(&at->bounds, &slots[MAX_TASKS], floor);
    if (!fi_idle_hungry(&at->workers.idle) || !deque_empty())
        return;
    if (!publish())
        fi_task_bounds_request(&at->bounds);
    else
        fi_task_bounds_raise_floor(&at->bounds, floor, &slots[published]);
}

static void create_fiber(void)
{
    x_say("create the fiber and run it");
    x_data_write(FIBER);
    fi_task_bounds_store_current(&current, &at->bounds);
    fi_task_bounds_request(&at->bounds);
}

/* A spawn compares with `limit`, a sync with `floor`. */
static void spawn_or_sync(char op)
{
    x_say(op == 'N' ? "spawn" : "sync");
    bool requested = op == 'N' ? fi_load_relaxed(&at->bounds.limit) == FI_LIMIT_REQUESTED
                               : fi_load_relaxed(&at->bounds.floor) == FI_FLOOR_REQUESTED;
    if (requested)
        handle_request();
}

/* ---- workers, as in sched/find_work.c ---- */

static bool take(void)
{
    for (uint32_t i = 0; i < program_now->capacity; i++) {
        uint32_t one = 1;
        if (!fi_load_relaxed(&deque[i]) || !fi_cas_relaxed(&deque[i], &one, 0))
            continue;
        x_say("takes %c", 'A' + (int)i);
        if (taken & 1u << i)
            x_fail(TWICE, "task %c is taken twice", 'A' + (int)i);
        taken |= 1u << i;
        return true;
    }
    return false;
}

static void request_publish(void)
{
    fi_task_bounds *f = fi_task_bounds_load_current(&current);
    if (!f)
        return;
    x_data_read(FIBER);
    if (fi_task_bounds_is_requested(f))
        return;
    x_say("request a task");
    fi_task_bounds_request(f);
}

static bool anything(void *position)
{
    x_forget(*(uint64_t *)position + 1);
    x_say("check once more");
    if (!deque_empty())
        return true;
    request_publish();
    return false;
}

static void find_work(int self, uint64_t position)
{
    x_say("find work");
    bool searching = fi_idle_search_begin(&at->workers.idle, (unsigned)program_threads());
    for (;;) {
        if (searching && take()) {
            if (fi_idle_search_end(&at->workers.idle))
                fi_idle_notify(&at->workers.idle);
            return;
        }
        fi_idle_sleep(&at->workers.idle, &at->workers.sleeper[self], searching, anything, &position,
                      FI_FUTEX_FOREVER);
        searching = true;
        x_forget(position + 2);
    }
}

static void operate(const operation *op)
{
    if (op->letter == 'M')
        create_fiber();
    else if (op->letter == 'T')
        find_work(op->thread, op->position);
    else
        spawn_or_sync(op->letter);
}

static void adjust(check *c)
{
    c->races = program_has("M");
}

/* The fiber will spawn or sync some time.  Either one must see the request. */
static const char *at_rest(void)
{
    for (int i = 1; i < program_threads(); i++)
        if (x_asleep_on(i) && x_asleep_on(i) != &at->workers.sleeper[i].asleep)
            return "a thread waits for the lock for ever";
    if (taken != (1u << published) - 1)
        return "a public task is left, and a worker sleeps";
    if (published == program_now->capacity)
        return NULL;
    if (x_peek(&at->bounds.limit) != X_BITS(FI_LIMIT_REQUESTED))
        return "a worker sleeps, a task is private, and no spawn will see the request";
    if (x_peek(&at->bounds.floor) != X_BITS(FI_FLOOR_REQUESTED))
        return "a worker sleeps, a task is private, and no sync will see the request";
    return NULL;
}

static uint64_t summary(void)
{
    return published << MAX_TASKS | taken;
}

static const char *value_name(uint64_t value)
{
    static const char *const names[] = {"slot 0", "slot 1", "slot 2", "slot 3", "end"};
    uint64_t first = X_BITS(slots);
    if (value == X_BITS(FI_FLOOR_REQUESTED))
        return "requested";
    if (value == X_BITS(&at->bounds))
        return "fiber";
    return value >= first && value < first + sizeof slots ? names[value - first] : NULL;
}

static const program programs[] = {
    {1, 0, "N", {"T"}},   {1, 0, "MN", {"T"}},   {1, 0, "NY", {"T"}},
    {2, 0, "NYN", {"T"}}, {2, 0, "YNY", {"TT"}}, {0, 0, NULL, {NULL}},
};

static const program large_programs[] = {
    {2, 0, "N", {"T", "T"}},
    {0, 0, NULL, {NULL}},
};

static const mutant mutants[] = {
    WEAKER("no fence in reset", "task_bounds.reset.fence", ORDER_NONE, HANG, HANG, HANG),
    WEAKER("a fence in reset that is not seq_cst", "task_bounds.reset.fence", ORDER_ACQ_REL, HANG,
           HANG, HANG),
    WEAKER("no fence in sleep", "idle.sleep.fence", ORDER_NONE, HANG, HANG, OK),
    {.what = "ends a search relaxed",
     .weaken = {{"idle.found", ORDER_RELAXED}},
     .expected = {OK, OK, OK},
     .why_kept = "caught by task_bounds:2:0:NN:T,T on rc11 (hang), a program that takes minutes to "
                 "explore on tso: try it by hand"},
    WEAKER("stores the current fiber relaxed", "task_bounds.store", ORDER_RELAXED, RACE, RACE,
           RACE),
    WEAKER("loads the current fiber relaxed", "task_bounds.load", ORDER_RELAXED, RACE, RACE, RACE),
    {.what = NULL},
};

const kind task_bounds_kind = {
    .name = "task_bounds",
    .owner = "MNY",
    .thief = "T",
    .programs = programs,
    .large_programs = large_programs,
    .mutants = mutants,
    .threads = OWNER_AND("fiber", "worker"),
    .data = {"the memory of the fiber"},
    .setup = setup,
    .operate = operate,
    .summary = summary,
    .at_rest = at_rest,
    .value_name = value_name,
    .adjust = adjust,
};
