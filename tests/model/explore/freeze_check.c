/* A thread that freezes a fiber and finds it on no worker may read its stack and its wait: the fiber
 * does not go on meanwhile.
 *
 * The fiber is ready from the start.  All: R run it, if it is ready, until it waits again, H the
 * same, and there it makes way for another, L freeze it and look at its stack and its wait, if it is
 * on no worker. */
#include "explore/kind.h"

#include "base/lock.h"
#include "sched/fiber_pin.h"

enum {
    STACK,
    WAIT,
    WAITS = 2
}; /* the stack and the saved point; the waits, which stand there as well */

static fi_fiber fiber, other;
static char wait[WAITS];
static int live; /* the wait that is the fiber's last */
static struct {
    FI_ATOMIC(fi_task_bounds *) current;
    FI_ATOMIC(fi_task_bounds *) leaving;
} shown[MAX_THREADS];
static fi_lock queue; /* in which the fiber stands while it is ready */
static bool ready;

static fi_waiter *the_wait(int i)
{
    return (fi_waiter *)(void *)&wait[i];
}

static bool is_worker(int thread)
{
    return thread_has(thread, "RH");
}

/* It waits, and somebody has made it ready. */
static void setup(void)
{
    static const char *const current[] = NUMBERED("runs on");
    static const char *const leaving[] = NUMBERED("leaves");
    ready = true;
    live = 0;
    x_init(&queue.word, 0, "queue");
    x_init(&fiber.waiting, X_BITS(&wait[0]), "waiting");
    x_init(&fiber.pins, 0, "pins");
    x_init(&fiber.freezes, 0, "frozen");
    x_init(&fiber.cancelled, 0, "cancel");
    x_init(&other.freezes, 0, "other's");
    for (int i = 0; i < program_threads(); i++)
        if (is_worker(i)) {
            x_init(&shown[i].current, 0, current[i]);
            x_init(&shown[i].leaving, 0, leaving[i]);
        }
}

/* ---- a worker, as in sched/switch.h ---- */

static bool take(void)
{
    x_lock(&queue);
    bool mine = ready;
    ready = false;
    x_unlock(&queue);
    return mine;
}

static void put(void)
{
    x_lock(&queue);
    ready = true;
    x_unlock(&queue);
}

/* The fiber goes on from one wait, and comes to the next. */
static void go_on(void)
{
    x_data_write(STACK);
    fi_fiber_end_wait(&fiber);
    x_say("goes on");
    live = (live + 1) % WAITS;
    x_data_write(WAIT + live);
    fi_fiber_begin_wait(&fiber, the_wait(live));
}

/* Back to the worker's own stack. */
static void park(int self)
{
    x_data_write(STACK);
    x_say("is away");
    fi_fiber_clear_running(&shown[self].current);
    put();
}

/* Another goes on in its place, and puts it away. */
static void make_way(int self)
{
    fi_fiber_set_leaving(&fiber, &shown[self].leaving);
    fi_fiber_set_running(&other, &shown[self].current);
    x_data_write(STACK);
    x_say("is away");
    fi_fiber_clear_leaving(&shown[self].leaving);
    put();
    fi_fiber_clear_running(&shown[self].current);
}

static void run_fiber(int self, uint64_t position, bool makes_way)
{
    x_say("run the fiber, if it is ready");
    if (!take())
        return;
    x_forget(position + 1);
    fi_fiber_set_running(&fiber, &shown[self].current);
    x_forget(position + 2);
    go_on();
    x_forget(position + 3);
    if (makes_way)
        make_way(self);
    else
        park(self);
}

/* ---- who looks, as in wait/waitq.c and debug/dump.c ---- */

static bool is_away(void)
{
    for (int i = 0; i < program_threads(); i++)
        if (is_worker(i) && fi_fiber_is_on(&fiber, &shown[i].current, &shown[i].leaving))
            return false;
    return true;
}

static void look(void)
{
    x_say("freeze it");
    fi_waiter *w = fi_fiber_freeze(&fiber);
    if (is_away()) {
        x_say("look at its stack");
        x_data_read(STACK);
        if (w && w != the_wait(live))
            x_fail(WRONG, "a wait that is over is looked at");
        if (w)
            x_data_read(WAIT + live);
    }
    fi_fiber_thaw(&fiber);
}

static void operate(const operation *op)
{
    if (op->letter == 'L')
        look();
    else
        run_fiber(op->thread, op->position, op->letter == 'H');
}

static uint64_t summary(void)
{
    return (uint64_t)live << 1 | ready;
}

static const char *value_name(uint64_t value)
{
    for (int i = 0; i < WAITS; i++)
        if (value == X_BITS(&wait[i]))
            return i ? "wait 1" : "wait 0";
    if (value == X_BITS(&fiber.bounds))
        return "fiber";
    return value == X_BITS(&other.bounds) ? "other" : NULL;
}

static const program programs[] = {
    {0, 0, "R", {"L"}},       {0, 0, "H", {"L"}},      {0, 0, "RR", {"L"}},
    {0, 0, "HR", {"L"}},      {0, 0, "R", {"R", "L"}}, {0, 0, "H", {"R", "L"}},
    {0, 0, "RH", {"R", "L"}}, {0, 0, NULL, {NULL}},
};

static const mutant mutants[] = {
    WEAKER("no fence of the worker that runs the fiber", "switch.enter.fence", ORDER_NONE, RACE,
           RACE, RACE),
    WEAKER("no fence of the thread that freezes it", "fiber_pin.pin.fence", ORDER_NONE, RACE, RACE,
           RACE),
    WEAKER("a fence there that is not heavy", "fiber_pin.pin.fence", ORDER_ACQ_REL, RACE, RACE,
           RACE),
    WEAKER("thaws relaxed", "fiber_pin.unpin", ORDER_RELAXED, RACE, RACE, RACE),
    WEAKER("sees relaxed that it is thawed", "fiber_pin.await", ORDER_RELAXED, RACE, RACE, RACE),
    WEAKER("shows relaxed that it is away", "task_bounds.store", ORDER_RELAXED, RACE, RACE, RACE),
    WEAKER("looks relaxed whether it is away", "task_bounds.load", ORDER_RELAXED, RACE, RACE, RACE),
    FAULT("makes way without saying so", "fiber_pin.leaving", RACE, RACE, RACE),
    FAULT("freezes it without a pin", "fiber_pin.freeze_pins", WRONG, WRONG, WRONG),
    {.what = NULL},
};

const kind freeze_kind = {
    .name = "freeze",
    .owner = "RHL",
    .thief = "RHL",
    .programs = programs,
    .mutants = mutants,
    .threads = NUMBERED("thread"),
    .data = {"the stack", "the wait"},
    .races = true,
    .setup = setup,
    .operate = operate,
    .summary = summary,
    .value_name = value_name,
};
