/* A fiber that was put into the next slot is taken once, and who takes it sees its context. */
#include "explore/program.h"

#include "sched/next.h"

#include <string.h>

enum { MAX_FIBERS = 4 };

static const program *now;
static FI_ATOMIC(fi_runnable *) next;
static fi_runnable fibers[MAX_FIBERS];
static unsigned ready; /* one bit per fiber that was put and not taken since */

static void setup(void)
{
    ready = 0;
    x_init(&next, 0, "next");
}

static int obtain(const fi_runnable *r)
{
    int i = (int)(r - fibers);
    x_say("obtains %c", 'A' + i);
    if (!(ready & 1u << i))
        x_fail(TWICE, "fiber %c is taken twice", 'A' + i);
    ready &= ~(1u << i);
    x_data_read(i);
    return i;
}

static void put(int fiber)
{
    x_say("put %c", 'A' + fiber);
    x_data_write(fiber);
    ready |= 1u << fiber;
    fi_runnable *old = fi_next_put(&next, &fibers[fiber]);
    if (old)
        obtain(old);
}

static void run_owner(void)
{
    int fresh = 0, mine = -1;
    for (const char *op = now->owner; *op; op++) {
        x_forget(strlen(op) * 16 + (uint64_t)(mine + 1));
        if (*op == 'R')
            put(fresh++);
        else if (*op == 'A' && mine >= 0)
            put(mine);
        fi_runnable *r = *op == 'O' ? fi_next_take(&next) : NULL;
        mine = r ? obtain(r) : -1;
    }
}

/* Thieves have all stopped. */
static void drain(void)
{
    x_forget(1000);
    x_join();
    fi_runnable *r = fi_next_take(&next);
    if (r)
        obtain(r);
    if (ready)
        x_fail(LOST, "a fiber is lost");
}

static void run(int thread)
{
    if (thread == 0) {
        run_owner();
        drain();
        return;
    }
    for (const char *op = now->thieves[thread - 1]; *op; op++) {
        x_forget(2000 + strlen(op));
        x_say("steal");
        fi_runnable *r = fi_next_steal(&next);
        if (r)
            obtain(r);
    }
    x_forget(2000);
}

static uint64_t summary(void)
{
    return ready;
}

static const char *thread_name(int thread)
{
    static const char *const names[] = {"worker", "thief 1", "thief 2", "thief 3"};
    return names[thread];
}

static const char *data_name(int datum)
{
    (void)datum;
    return "the context of the fiber";
}

static const char *value_name(uint64_t value)
{
    static const char *const letters[] = {"A", "B", "C", "D"};
    for (int i = 0; i < MAX_FIBERS; i++)
        if (value == X_BITS(&fibers[i]))
            return letters[i];
    return value ? NULL : "none";
}

void next_check(check *c, const program *p)
{
    now = p;
    *c = (check){.threads = program_threads(p),
                 .exchangeable = true,
                 .races = true,
                 .setup = setup,
                 .run = run,
                 .summary = summary,
                 .thread_name = thread_name,
                 .data_name = data_name,
                 .value_name = value_name};
}
