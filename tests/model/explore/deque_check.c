/* Each item that was pushed is obtained exactly once, and what it points to may be read. */
#include "explore/program.h"

#include "deque/deque.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_ITEMS = 8, MAX_STEAL = 4 };

static const program *now;
static fi_deque *deque;
static char items[MAX_ITEMS];     /* an item is the address of one of these */
static unsigned pushed, obtained; /* one bit per item */

static void setup(void)
{
    pushed = obtained = 0;
    fi_deque_config config = {.capacity = now->capacity, .batch = now->batch, .first_index = 1};
    if (fi_deque_new(fi_deque_kind_named(now->kind), &config, &deque) < 0)
        x_fail(WRONG, "no such deque: %s, capacity %u, batch %u", now->kind, config.capacity,
               config.batch);
}

static void obtain(void *item)
{
    char *p = x_settle(item);
    if (!p)
        x_fail(LOST, "an item is lost: its slot was claimed, but read before it was written");
    int i = (int)(p - items);
    x_say("obtains %c", 'A' + i);
    if (obtained & 1u << i)
        x_fail(TWICE, "item %c is taken twice", 'A' + i);
    obtained |= 1u << i;
    x_data_read(i);
}

static void owner_push(int item)
{
    x_say("push %c", 'A' + item);
    x_data_write(item);
    if (fi_deque_push(deque, &items[item]) == 0)
        pushed |= 1u << item;
    else
        x_say("refused: full");
}

static bool owner_pop(void)
{
    x_say("pop");
    void *item = fi_deque_pop(deque);
    if (item)
        obtain(item);
    return item != NULL;
}

static void drain(void)
{
    x_join();
    for (uint64_t i = 0;; i++) {
        x_forget(1000 + i);
        if (!owner_pop())
            break;
    }
    for (int i = 0; i < MAX_ITEMS; i++)
        if (pushed & ~obtained & 1u << i)
            x_fail(LOST, "item %c is lost", 'A' + i);
}

static void run_owner(void)
{
    int next = 0;
    for (const char *op = now->owner; *op; op++) {
        x_forget((uint64_t)(op - now->owner));
        if (*op == 'P')
            owner_push(next++);
        else
            owner_pop();
    }
    x_forget(999);
    drain();
}

static void run_thief(const char *steals)
{
    for (; *steals; steals++) {
        x_forget(2000 + strlen(steals)); /* thieves with as much left to do are alike */
        x_say("steal");
        void *out[MAX_STEAL];
        int n = fi_deque_steal(deque, out, MAX_STEAL);
        for (int i = 0; i < n; i++)
            obtain(out[i]);
        if (n <= 0)
            x_say(n == FI_STEAL_EMPTY ? "finds it empty" : "loses the race");
    }
    x_forget(2000);
}

static void run(int thread)
{
    if (thread == 0)
        run_owner();
    else
        run_thief(now->thieves[thread - 1]);
}

static uint64_t summary(void)
{
    return pushed << MAX_ITEMS | obtained;
}

static const char *thread_name(int thread)
{
    static const char *const names[] = {"owner", "thief 1", "thief 2", "thief 3"};
    return names[thread];
}

static const char *value_name(uint64_t value)
{
    static const char *const letters[] = {"A", "B", "C", "D", "E", "F", "G", "H"};
    uint64_t first = (uint64_t)(uintptr_t)items;
    if (value >= first && value < first + MAX_ITEMS)
        return letters[value - first];
    return NULL;
}

void deque_check(check *c, const program *p)
{
    now = p;
    *c = (check){.threads = program_threads(p),
                 .exchangeable = true,
                 .setup = setup,
                 .run = run,
                 .summary = summary,
                 .thread_name = thread_name,
                 .value_name = value_name};
}
