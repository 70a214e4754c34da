/* An ask is not lost: while a worker sleeps, a fiber with private tasks will look. */
#include "explore/program.h"

#include "base/futex.h"
#include "explore/mem.h"
#include "sched/idle.h"
#include "sched/task_bounds.h"

#include <string.h>

enum { MAX_TASKS = 4 };
enum { FIBER = 0 }; /* its memory, before it was one */

/* In the arena, as the list of sleepers is part of the state. */
typedef struct place {
    fi_idle idle;
    fi_sleeper sleeper[MAX_THREADS];
    fi_task_bounds bounds;
} place;

static const program *now;
static place *at;
static FI_ATOMIC(fi_task_bounds *) current;
static FI_ATOMIC(uint32_t) deque[MAX_TASKS]; /* 1: this task is public */
static char slots[MAX_TASKS + 1];
static unsigned published, taken; /* how many; one bit per task */

static void setup(void)
{
    static const char *const words[] = {"deque[0]", "deque[1]", "deque[2]", "deque[3]"};
    static const char *const asleep[] = {"asleep 0", "asleep 1", "asleep 2", "asleep 3"};
    published = taken = 0;
    at = FI_NEW(place);
    fi_idle_init(&at->idle);
    x_init(&current, *now->owner == 'M' ? 0 : X_BITS(&at->bounds), "current");
    x_init(&at->bounds.limit, X_BITS(FI_LIMIT_REQUESTED), "limit");
    x_init(&at->bounds.floor, X_BITS(FI_FLOOR_REQUESTED), "floor");
    for (int i = 0; i < program_threads(now); i++)
        x_init(&at->sleeper[i].asleep, 0, asleep[i]);
    if (now->capacity > MAX_TASKS)
        x_fail(LIMIT, "at most %d tasks", MAX_TASKS);
    for (uint32_t i = 0; i < now->capacity; i++)
        x_init(&deque[i], 0, words[i]);
}

static bool deque_empty(void)
{
    for (uint32_t i = 0; i < now->capacity; i++)
        if (fi_load_relaxed(&deque[i]))
            return false;
    return true;
}

/* ---- the fiber, as in task/task.c ---- */

static bool publish(void)
{
    if (published == now->capacity)
        return false;
    x_say("publish %c", 'A' + (int)published);
    fi_store_relaxed(&deque[published++], 1);
    fi_idle_notify(&at->idle);
    return true;
}

static void answer(void)
{
    char *floor = &slots[published];
    x_say("answer");
    fi_task_bounds_reset(&at->bounds, &slots[MAX_TASKS], floor);
    if (!fi_idle_hungry(&at->idle) || !deque_empty())
        return;
    if (!publish())
        fi_task_bounds_request(&at->bounds);
    else
        fi_task_bounds_raise_floor(&at->bounds, floor, &slots[published]);
}

static void make(void)
{
    x_say("make the fiber and run it");
    x_data_write(FIBER);
    fi_task_bounds_store_current(&current, &at->bounds);
    fi_task_bounds_request(&at->bounds);
}

/* A spawn compares with one word, a sync with the other. */
static void look(char op)
{
    x_say(op == 'N' ? "spawn" : "sync");
    bool asked = op == 'N' ? fi_load_relaxed(&at->bounds.limit) == FI_LIMIT_REQUESTED
                           : fi_load_relaxed(&at->bounds.floor) == FI_FLOOR_REQUESTED;
    if (asked)
        answer();
}

static void run_fiber(void)
{
    for (const char *op = now->owner; *op; op++) {
        x_forget(strlen(op));
        if (*op == 'M')
            make();
        else
            look(*op);
    }
    x_forget(0);
}

/* ---- the hungry, as in sched/find_work.c ---- */

static bool take(void)
{
    for (uint32_t i = 0; i < now->capacity; i++) {
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

static void ask(void)
{
    fi_task_bounds *f = fi_task_bounds_load_current(&current);
    if (!f)
        return;
    x_data_read(FIBER);
    if (fi_task_bounds_is_requested(f))
        return;
    x_say("ask");
    fi_task_bounds_request(f);
}

static bool anything(void *position)
{
    x_forget(*(uint64_t *)position + 1);
    x_say("look once more");
    if (!deque_empty())
        return true;
    ask();
    return false;
}

static void find_work(int self, uint64_t position)
{
    x_say("find work");
    bool searching = fi_idle_search_begin(&at->idle, (unsigned)program_threads(now));
    for (;;) {
        if (searching && take()) {
            if (fi_idle_search_end(&at->idle))
                fi_idle_notify(&at->idle);
            return;
        }
        fi_idle_sleep(&at->idle, &at->sleeper[self], searching, anything, &position,
                      FI_FUTEX_FOREVER);
        searching = true;
        x_forget(position + 2);
    }
}

static void run_worker(int self)
{
    for (const char *op = now->thieves[self - 1]; *op; op++) {
        x_forget(4 * strlen(op));
        find_work(self, 4 * strlen(op));
    }
    x_forget(0);
}

static void run(int thread)
{
    if (thread == 0)
        run_fiber();
    else
        run_worker(thread);
}

/* The fiber goes on some time; whichever word it looks at next, it must see that somebody asked. */
static const char *at_rest(void)
{
    for (int i = 1; i < program_threads(now); i++)
        if (x_asleep_on(i) && x_asleep_on(i) != &at->sleeper[i].asleep)
            return "somebody waits for the lock for ever";
    if (taken != (1u << published) - 1)
        return "a public task is left, and a worker sleeps";
    if (published == now->capacity)
        return NULL;
    if (x_peek(&at->bounds.limit) != X_BITS(FI_LIMIT_REQUESTED))
        return "a worker sleeps, a task is private, and no spawn will look";
    if (x_peek(&at->bounds.floor) != X_BITS(FI_FLOOR_REQUESTED))
        return "a worker sleeps, a task is private, and no sync will look";
    return NULL;
}

static uint64_t summary(void)
{
    return published << MAX_TASKS | taken;
}

static const char *thread_name(int thread)
{
    static const char *const names[] = {"fiber", "worker 1", "worker 2", "worker 3"};
    return names[thread];
}

static const char *data_name(int datum)
{
    (void)datum;
    return "the memory of the fiber";
}

static const char *value_name(uint64_t value)
{
    static const char *const names[] = {"slot 0", "slot 1", "slot 2", "slot 3", "end"};
    uint64_t first = X_BITS(slots);
    if (value == X_BITS(FI_FLOOR_REQUESTED))
        return "asked";
    if (value == X_BITS(&at->bounds))
        return "fiber";
    return value >= first && value < first + sizeof slots ? names[value - first] : NULL;
}

void task_bounds_check(check *c, const program *p)
{
    now = p;
    *c = (check){.threads = program_threads(p),
                 .races = *p->owner == 'M',
                 .setup = setup,
                 .run = run,
                 .summary = summary,
                 .at_rest = at_rest,
                 .thread_name = thread_name,
                 .data_name = data_name,
                 .value_name = value_name};
}
