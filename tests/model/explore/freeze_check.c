/* Who freezes a fiber and finds it on no worker may look at its stack and at what it waits for: it does not go on meanwhile. */
#include "explore/program.h"

#include "base/lock.h"
#include "sched/fiber_pin.h"

#include <string.h>

enum {
    STACK,
    WAIT,
    WAITS = 2
}; /* the stack and the saved point; the waits, which stand there as well */

static const program *now;
static fi_fiber fiber, other;
static char wait[WAITS];
static int live; /* the wait that is the fiber's last */
static struct {
    FI_ATOMIC(fi_task_bounds *) current;
    FI_ATOMIC(fi_task_bounds *) leaving;
} shown[MAX_THREADS];
static fi_lock queue; /* in which the fiber stands while it is ready */
static bool ready;

static fi_wait *the_wait(int i)
{
    return (fi_wait *)(void *)&wait[i];
}

static const char *ops_of(int thread)
{
    return thread == 0 ? now->owner : now->thieves[thread - 1];
}

static bool is_worker(int thread)
{
    return strpbrk(ops_of(thread), "RH") != NULL;
}

/* It waits, and somebody has made it ready. */
static void setup(void)
{
    static const char *const current[] = {"runs on 0", "runs on 1", "runs on 2", "runs on 3"};
    static const char *const leaving[] = {"leaves 0", "leaves 1", "leaves 2", "leaves 3"};
    ready = true;
    live = 0;
    x_init(&queue.word, 0, "queue");
    x_init(&fiber.waiting, X_BITS(&wait[0]), "waiting");
    x_init(&fiber.pins, 0, "pins");
    x_init(&fiber.freezes, 0, "frozen");
    x_init(&fiber.cancelled, 0, "cancel");
    x_init(&other.freezes, 0, "other's");
    for (int i = 0; i < program_threads(now); i++)
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

/* ---- who looks, as in sched/wait.c and sched/dump.c ---- */

static bool is_away(void)
{
    for (int i = 0; i < program_threads(now); i++)
        if (is_worker(i) && fi_fiber_is_on(&fiber, &shown[i].current, &shown[i].leaving))
            return false;
    return true;
}

static void look(void)
{
    x_say("freeze it");
    fi_wait *w = fi_fiber_freeze(&fiber);
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

static void run(int thread)
{
    for (const char *op = ops_of(thread); *op; op++) {
        uint64_t position = 4 * strlen(op);
        x_forget(position);
        if (*op == 'L')
            look();
        else
            run_fiber(thread, position, *op == 'H');
    }
    x_forget(0);
}

static uint64_t summary(void)
{
    return (uint64_t)live << 1 | ready;
}

static const char *thread_name(int thread)
{
    static const char *const names[] = {"thread 0", "thread 1", "thread 2", "thread 3"};
    return names[thread];
}

static const char *data_name(int datum)
{
    return datum == STACK ? "the stack" : "the wait";
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

void freeze_check(check *c, const program *p)
{
    now = p;
    *c = (check){.threads = program_threads(p),
                 .races = true,
                 .setup = setup,
                 .run = run,
                 .summary = summary,
                 .thread_name = thread_name,
                 .data_name = data_name,
                 .value_name = value_name};
}
