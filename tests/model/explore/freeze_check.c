/* A thread that freezes a fiber and finds it on no worker may read its stack and its waiter: the
 * fiber does not continue meanwhile.
 *
 * The fiber is ready from the start.  All: R run it, if it is ready, until it waits again, H the
 * same, and switch to another fiber there, L freeze it and read its stack and its waiter, if it is
 * on no worker. */
#include "explore/kind.h"

#include "base/lock.h"
#include "sched/fiber_pin.h"

enum {
    STACK,
    WAIT,
    WAITS = 2
}; /* the stack with the saved context; the waiters, which are on that stack */

static fi_fiber fiber, other;
static char wait[WAITS];
static int live; /* the waiter of the current wait */
static struct {
    FI_ATOMIC(fi_task_bounds *) current;
    FI_ATOMIC(fi_task_bounds *) leaving;
} on_worker[MAX_THREADS];
static fi_lock queue; /* holds the fiber while it is ready */
static bool ready;

static fi_waiter *waiter_at(int i)
{
    return (fi_waiter *)(void *)&wait[i];
}

static bool is_worker(int thread)
{
    return thread_has(thread, "RH");
}

/* The fiber has waited and is ready. */
static void setup(void)
{
    static const char *const current[] = NUMBERED("current");
    static const char *const leaving[] = NUMBERED("leaving");
    ready = true;
    live = 0;
    x_init(&queue.word, 0, "queue");
    x_init(&fiber.waiting, X_BITS(&wait[0]), "waiting");
    x_init(&fiber.pins, 0, "pins");
    x_init(&fiber.freezes, 0, "freezes");
    x_init(&fiber.cancel_state, 0, "cancel");
    x_init(&other.freezes, 0, "other");
    for (int i = 0; i < program_threads(); i++)
        if (is_worker(i)) {
            x_init(&on_worker[i].current, 0, current[i]);
            x_init(&on_worker[i].leaving, 0, leaving[i]);
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

static void make_ready(void)
{
    x_lock(&queue);
    ready = true;
    x_unlock(&queue);
}

/* The fiber continues after one wait and begins the next. */
static void continue_to_next_wait(void)
{
    x_data_write(STACK);
    fi_fiber_end_wait(&fiber);
    x_say("continues");
    live = (live + 1) % WAITS;
    x_data_write(WAIT + live);
    fi_fiber_begin_wait(&fiber, waiter_at(live));
}

/* Switch to the scheduler context of the worker. */
static void park(int self)
{
    x_data_write(STACK);
    x_say("its context is saved");
    fi_fiber_clear_running(&on_worker[self].current);
    make_ready();
}

/* Switch to another fiber, which makes this one ready. */
static void switch_to_other(int self)
{
    fi_fiber_set_leaving(&fiber, &on_worker[self].leaving);
    fi_fiber_set_running(&other, &on_worker[self].current);
    x_data_write(STACK);
    x_say("its context is saved");
    fi_fiber_clear_leaving(&on_worker[self].leaving);
    make_ready();
    fi_fiber_clear_running(&on_worker[self].current);
}

static void run_fiber(int self, uint64_t position, bool switches)
{
    x_say("run the fiber, if it is ready");
    if (!take())
        return;
    x_forget(position + 1);
    fi_fiber_set_running(&fiber, &on_worker[self].current);
    x_forget(position + 2);
    continue_to_next_wait();
    x_forget(position + 3);
    if (switches)
        switch_to_other(self);
    else
        park(self);
}

/* ---- readers, as in wait/waitq.c and debug/dump.c ---- */

static bool is_on_no_worker(void)
{
    for (int i = 0; i < program_threads(); i++)
        if (is_worker(i) && fi_fiber_is_on(&fiber, &on_worker[i].current, &on_worker[i].leaving))
            return false;
    return true;
}

static void freeze_and_read(void)
{
    x_say("freeze it");
    fi_waiter *w = fi_fiber_freeze(&fiber);
    if (is_on_no_worker()) {
        x_say("read its stack");
        x_data_read(STACK);
        if (w && w != waiter_at(live))
            x_fail(WRONG, "the waiter of an ended wait is read");
        if (w)
            x_data_read(WAIT + live);
    }
    fi_fiber_thaw(&fiber);
}

static void operate(const operation *op)
{
    if (op->letter == 'L')
        freeze_and_read();
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
    WEAKER("checks relaxed whether it is thawed", "fiber_pin.await", ORDER_RELAXED, RACE, RACE,
           RACE),
    WEAKER("clears the current fiber relaxed", "task_bounds.store", ORDER_RELAXED, RACE, RACE,
           RACE),
    WEAKER("checks relaxed whether it is on a worker", "task_bounds.load", ORDER_RELAXED, RACE,
           RACE, RACE),
    FAULT("does not mark the fiber as leaving", "fiber_pin.leaving", RACE, RACE, RACE),
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
    .data = {"the stack", "the waiter"},
    .races = true,
    .setup = setup,
    .operate = operate,
    .summary = summary,
    .value_name = value_name,
};
