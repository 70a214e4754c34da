/* A thread that cancels a fiber, or reads its waiter, finds a valid waiter or none.  A cancelled
 * fiber does not wait, or is woken.
 *
 * Owner, a fiber: W wait, then reuse the memory of the waiter.  Thief: C cancel the fiber, L read
 * its waiter, E wake it, if it waits. */
#include "explore/kind.h"

#include "base/lock.h"
#include "base/oneshot.h"
#include "sched/fiber_pin.h"

enum { WAIT, RESULT }; /* the waiter as initialised; what the waker writes */

static fi_fiber fiber;
/* The waiter of each wait is in the same memory. */
static char wait;
static FI_ATOMIC(uint32_t) event; /* for the parked fiber */
static fi_lock lock;
static bool in_queue;
static unsigned
    removed; /* a bit for each thread that has removed the waiter and will wake the fiber */

static fi_waiter *the_waiter(void)
{
    return (fi_waiter *)(void *)&wait;
}

static void setup(void)
{
    in_queue = false;
    removed = 0;
    x_init(&fiber.waiting, 0, "waiting");
    x_init(&fiber.pins, 0, "pins");
    x_init(&fiber.cancel_state, 0, "cancel");
    x_init(&event, 0, "event");
    x_init(&lock.word, 0, "lock");
}

/* ---- the fiber, as in wait/waitq.c ---- */

static bool enqueue(void)
{
    x_lock(&lock);
    in_queue = true;
    bool cancelled = fi_fiber_begin_wait(&fiber, the_waiter());
    if (cancelled)
        in_queue = false;
    x_unlock(&lock);
    return !cancelled;
}

static void write_all(void)
{
    x_data_write(WAIT);
    x_data_write(RESULT);
}

static void wait_once(uint64_t position)
{
    x_say("initialise the waiter");
    write_all();
    fi_store_relaxed(&event, 0);
    if (enqueue()) {
        x_say("park");
        fi_oneshot_wait(&event);
    }
    x_forget(position + 1);
    fi_fiber_end_wait(&fiber);
    x_say("reuse the memory");
    write_all();
}

/* ---- other threads ---- */

static bool remove_waiter(int self)
{
    x_lock(&lock);
    if (in_queue)
        removed |= 1u << self;
    in_queue = false;
    x_unlock(&lock);
    return removed & 1u << self;
}

static void wake(int self)
{
    x_say("wake it");
    removed &= ~(1u << self);
    x_data_write(RESULT);
    x_data_read(WAIT); /* its fiber */
    fi_oneshot_set(&event);
}

/* The wait ends. */
static void wake_if_waiting(int self)
{
    if (remove_waiter(self))
        wake(self);
}

static fi_waiter *read_waiter(void)
{
    fi_waiter *w = fi_fiber_pinned_wait(&fiber);
    if (w) {
        x_say("read the waiter");
        x_data_read(WAIT);
    }
    return w;
}

static void cancel(int self)
{
    x_say("cancel");
    fi_fiber_pin(&fiber);
    fi_store_relaxed(&fiber.cancel_state, 1);
    if (read_waiter())
        wake_if_waiting(self);
    fi_fiber_unpin(&fiber);
}

static void pin_and_read(void)
{
    x_say("pin");
    fi_fiber_pin(&fiber);
    read_waiter();
    fi_fiber_unpin(&fiber);
}

static void operate(const operation *op)
{
    if (op->letter == 'W')
        wait_once(op->position);
    else if (op->letter == 'C')
        cancel(op->thread);
    else if (op->letter == 'L')
        pin_and_read();
    else
        wake_if_waiting(op->thread);
}

/* A fiber that is neither woken nor cancelled may wait for ever. */
static const char *at_rest(void)
{
    if (program_has("C"))
        return "the fiber is cancelled, and waits";
    return x_asleep_on(0) == &event ? NULL : "";
}

static uint64_t summary(void)
{
    return removed * 2 + in_queue;
}

static const char *value_name(uint64_t value)
{
    return value == X_BITS(&wait) ? "waiter" : NULL;
}

static const program programs[] = {
    {0, 0, "W", {"C"}},      {0, 0, "W", {"LE"}},     {0, 0, "WW", {"C"}},
    {0, 0, "W", {"C", "E"}}, {0, 0, "W", {"L", "C"}}, {0, 0, "WW", {"C", "E"}},
    {0, 0, NULL, {NULL}},
};

static const mutant mutants[] = {
    WEAKER("no fence where a wait begins", "fiber_pin.begin_wait.fence", ORDER_NONE, HANG, HANG,
           HANG),
    WEAKER("no fence where a wait ends", "fiber_pin.end_wait.fence", ORDER_NONE, RACE, RACE, RACE),
    WEAKER("no fence in pin", "fiber_pin.pin.fence", ORDER_NONE, HANG, HANG, HANG),
    WEAKER("a fence in pin that is not heavy", "fiber_pin.pin.fence", ORDER_ACQ_REL, HANG, HANG,
           HANG),
    WEAKER("begins a wait relaxed", "fiber_pin.begin_wait", ORDER_RELAXED, RACE, RACE, RACE),
    WEAKER("loads the waiter relaxed", "fiber_pin.load_wait", ORDER_RELAXED, RACE, RACE, RACE),
    WEAKER("unpins relaxed", "fiber_pin.unpin", ORDER_RELAXED, RACE, RACE, RACE),
    WEAKER("checks relaxed whether there is a pin", "fiber_pin.await", ORDER_RELAXED, RACE, RACE,
           RACE),
    {.what = NULL},
};

const kind fiber_pin_kind = {
    .name = "fiber_pin",
    .owner = "W",
    .thief = "CLE",
    .programs = programs,
    .mutants = mutants,
    .threads = OWNER_AND("fiber", "thread"),
    .data = {"the waiter", "the result of the wait"},
    .races = true,
    .setup = setup,
    .operate = operate,
    .summary = summary,
    .at_rest = at_rest,
    .value_name = value_name,
};
