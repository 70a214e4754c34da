/* A thread that cancels a fiber, or reads what it waits for, finds the wait in place or nothing.  A
 * fiber that is cancelled does not wait, or is woken.
 *
 * Owner, a fiber: W wait, then use the memory for something else.  Thief: C cancel the fiber, L look
 * at what it waits for, E bring that, if it waits just then. */
#include "explore/kind.h"

#include "base/lock.h"
#include "base/oneshot.h"
#include "sched/fiber_pin.h"

enum { WAIT, RESULT }; /* as it was made; what its waker writes */

static fi_fiber fiber;
/* One wait after the other, in the same memory. */
static char wait;
static FI_ATOMIC(uint32_t) gate; /* for the parked fiber */
static fi_lock lock;
static bool in_line;
static unsigned took_out; /* a bit for each thread that is about to wake the fiber */

static fi_waiter *the_wait(void)
{
    return (fi_waiter *)(void *)&wait;
}

static void setup(void)
{
    in_line = false;
    took_out = 0;
    x_init(&fiber.waiting, 0, "waiting");
    x_init(&fiber.pins, 0, "pins");
    x_init(&fiber.cancelled, 0, "cancel");
    x_init(&gate, 0, "gate");
    x_init(&lock.word, 0, "lock");
}

/* ---- the fiber, as in wait/waitq.c ---- */

static bool stand_in_line(void)
{
    x_lock(&lock);
    in_line = true;
    bool cancelled = fi_fiber_begin_wait(&fiber, the_wait());
    if (cancelled)
        in_line = false;
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
    x_say("make a wait");
    write_all();
    fi_store_relaxed(&gate, 0);
    if (stand_in_line()) {
        x_say("park");
        fi_oneshot_wait(&gate);
    }
    x_forget(position + 1);
    fi_fiber_end_wait(&fiber);
    x_say("the memory is something else");
    write_all();
}

/* ---- others ---- */

static bool take_out(int self)
{
    x_lock(&lock);
    if (in_line)
        took_out |= 1u << self;
    in_line = false;
    x_unlock(&lock);
    return took_out & 1u << self;
}

static void wake(int self)
{
    x_say("wake it");
    took_out &= ~(1u << self);
    x_data_write(RESULT);
    x_data_read(WAIT); /* whose it is */
    fi_oneshot_set(&gate);
}

/* What it waits for has come. */
static void end(int self)
{
    if (take_out(self))
        wake(self);
}

static fi_waiter *look(void)
{
    fi_waiter *w = fi_fiber_pinned_wait(&fiber);
    if (w) {
        x_say("look at the wait");
        x_data_read(WAIT);
    }
    return w;
}

static void cancel(int self)
{
    x_say("cancel");
    fi_fiber_pin(&fiber);
    fi_store_relaxed(&fiber.cancelled, 1);
    if (look())
        end(self);
    fi_fiber_unpin(&fiber);
}

static void look_only(void)
{
    x_say("look");
    fi_fiber_pin(&fiber);
    look();
    fi_fiber_unpin(&fiber);
}

static void operate(const operation *op)
{
    if (op->letter == 'W')
        wait_once(op->position);
    else if (op->letter == 'C')
        cancel(op->thread);
    else if (op->letter == 'L')
        look_only();
    else
        end(op->thread);
}

/* Nobody has come in time, and nobody has cancelled it. */
static const char *at_rest(void)
{
    if (program_has("C"))
        return "the fiber is cancelled, and waits";
    return x_asleep_on(0) == &gate ? NULL : "";
}

static uint64_t summary(void)
{
    return took_out * 2 + in_line;
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
    WEAKER("no fence of the canceller", "fiber_pin.pin.fence", ORDER_NONE, HANG, HANG, HANG),
    WEAKER("a fence there that is not heavy", "fiber_pin.pin.fence", ORDER_ACQ_REL, HANG, HANG,
           HANG),
    WEAKER("begins a wait relaxed", "fiber_pin.begin_wait", ORDER_RELAXED, RACE, RACE, RACE),
    WEAKER("looks relaxed for a wait", "fiber_pin.load_wait", ORDER_RELAXED, RACE, RACE, RACE),
    WEAKER("takes the pin away relaxed", "fiber_pin.unpin", ORDER_RELAXED, RACE, RACE, RACE),
    WEAKER("sees relaxed that there is no pin", "fiber_pin.await", ORDER_RELAXED, RACE, RACE, RACE),
    {.what = NULL},
};

const kind fiber_pin_kind = {
    .name = "fiber_pin",
    .owner = "W",
    .thief = "CLE",
    .programs = programs,
    .mutants = mutants,
    .threads = OWNER_AND("fiber", "thread"),
    .data = {"the wait", "the result of the wait"},
    .races = true,
    .setup = setup,
    .operate = operate,
    .summary = summary,
    .at_rest = at_rest,
    .value_name = value_name,
};
