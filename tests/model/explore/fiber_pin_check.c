/* Who cancels a fiber, or looks at what it waits for, finds that in place or nothing; and a fiber that is cancelled does
 * not wait, or is woken. */
#include "explore/program.h"

#include "base/lock.h"
#include "base/oneshot.h"
#include "sched/fiber_pin.h"

#include <string.h>

enum { WAIT, RESULT }; /* as it was made; what its waker writes */

static const program *now;
static fi_fiber fiber;
/* One wait after the other, in the same memory. */
static char wait;
static FI_ATOMIC(uint32_t) gate; /* for the parked fiber */
static fi_lock latch;
static bool in_line;
static unsigned took_out; /* a bit for each thread that is about to wake the fiber */

static fi_wait *the_wait(void)
{
    return (fi_wait *)(void *)&wait;
}

static void setup(void)
{
    in_line = false;
    took_out = 0;
    x_init(&fiber.waiting, 0, "waiting");
    x_init(&fiber.pins, 0, "pins");
    x_init(&fiber.cancelled, 0, "cancel");
    x_init(&gate, 0, "gate");
    x_init(&latch.word, 0, "latch");
}

/* ---- the fiber, as in sched/wait.c ---- */

static bool stand_in_line(void)
{
    x_lock(&latch);
    in_line = true;
    bool cancelled = fi_fiber_begin_wait(&fiber, the_wait());
    if (cancelled)
        in_line = false;
    x_unlock(&latch);
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
    x_lock(&latch);
    if (in_line)
        took_out |= 1u << self;
    in_line = false;
    x_unlock(&latch);
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

static fi_wait *look(void)
{
    fi_wait *w = fi_fiber_pinned_wait(&fiber);
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

static void run(int thread)
{
    const char *ops = thread == 0 ? now->owner : now->thieves[thread - 1];
    for (; *ops; ops++) {
        uint64_t position = 2 * strlen(ops);
        x_forget(position);
        if (*ops == 'W')
            wait_once(position);
        else if (*ops == 'C')
            cancel(thread);
        else if (*ops == 'L')
            look_only();
        else
            end(thread);
    }
    x_forget(0);
}

/* Nobody has come in time, and nobody has cancelled it. */
static const char *at_rest(void)
{
    for (int i = 0; i < MAX_THIEVES && now->thieves[i]; i++)
        if (strchr(now->thieves[i], 'C'))
            return "the fiber is cancelled, and waits";
    return x_asleep_on(0) == &gate ? NULL : "";
}

static uint64_t summary(void)
{
    return took_out * 2 + in_line;
}

static const char *thread_name(int thread)
{
    static const char *const names[] = {"fiber", "thread 1", "thread 2", "thread 3"};
    return names[thread];
}

static const char *data_name(int datum)
{
    return datum == WAIT ? "the wait" : "the result of the wait";
}

static const char *value_name(uint64_t value)
{
    return value == X_BITS(&wait) ? "fiber_pin" : NULL;
}

void fiber_pin_check(check *c, const program *p)
{
    now = p;
    *c = (check){.threads = program_threads(p),
                 .races = true,
                 .setup = setup,
                 .run = run,
                 .summary = summary,
                 .at_rest = at_rest,
                 .thread_name = thread_name,
                 .data_name = data_name,
                 .value_name = value_name};
}
