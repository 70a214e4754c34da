/* Each item that was pushed is obtained exactly once, and what it points to may be read.
 *
 * The kinds locked, bounded, batch and half, with their `capacity` and `batch`.  Owner: P push the
 * next item, O pop; at the end it joins the thieves and drains.  Thief: S steal.  The calls go
 * through <filch/deque.h>. */
#include "explore/kind.h"

#include "base/message.h"
#include "deque/deque.h"

#include <filch/deque.h>

enum { MAX_ITEMS = 8, MAX_STEAL = 4 };

static fi_deque *deque;
static char items[MAX_ITEMS];     /* an item is the address of one of these */
static unsigned pushed, obtained; /* one bit per item */

/* The public functions report a wrong argument by these. */
int fi_message_invalid(const char *format, ...)
{
    x_fail(WRONG, "%s", format);
}

int fi_message_null(const char *function, const char *argument, const char *wanted)
{
    (void)wanted;
    x_fail(WRONG, "%s: %s is NULL", function, argument);
}

static void setup(void)
{
    pushed = obtained = 0;
    fi_deque_config config = {
        .capacity = program_now->capacity, .batch = program_now->batch, .first_index = 1};
    if (fi_deque_new(fi_deque_kind_named(kind_now->name), &config, &deque) < 0)
        x_fail(WRONG, "no such deque: %s, capacity %u, batch %u", kind_now->name, config.capacity,
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
    if (filch_deque_push(deque, &items[item]) == 0)
        pushed |= 1u << item;
    else
        x_say("refused: full");
}

static bool owner_pop(void)
{
    x_say("pop");
    void *item = filch_deque_pop(deque);
    if (item)
        obtain(item);
    return item != NULL;
}

static void drain(void)
{
    for (uint64_t i = 0;; i++) {
        x_forget(1000 + i);
        if (!owner_pop())
            break;
    }
    for (int i = 0; i < MAX_ITEMS; i++)
        if (pushed & ~obtained & 1u << i)
            x_fail(LOST, "item %c is lost", 'A' + i);
}

static void steal(void)
{
    x_say("steal");
    void *out[MAX_STEAL];
    int n = filch_deque_steal(deque, out, MAX_STEAL);
    for (int i = 0; i < n; i++)
        obtain(out[i]);
    if (n <= 0)
        x_say(n == FI_STEAL_EMPTY ? "finds it empty" : "loses the race");
}

static void operate(const operation *op)
{
    if (op->letter == 'P')
        owner_push(program_count("P", 0, op->index));
    else if (op->letter == 'O')
        owner_pop();
    else
        steal();
}

static uint64_t summary(void)
{
    return pushed << MAX_ITEMS | obtained;
}

static const char *value_name(uint64_t value)
{
    static const char *const letters[] = {"A", "B", "C", "D", "E", "F", "G", "H"};
    uint64_t first = (uint64_t)(uintptr_t)items;
    if (value >= first && value < first + MAX_ITEMS)
        return letters[value - first];
    return NULL;
}

static const char push_top_kept[] =
    "The branch on it keeps push's store behind this load in all three machines, as on real "
    "processors; "
    "ISO C11 does not promise that, and there the acquire is what pairs with the thief's claim.";

#define DEQUE_KIND(kind_name)                                                                      \
    const kind kind_name##_kind = {                                                                \
        .name = #kind_name,                                                                        \
        .owner = "PO",                                                                             \
        .thief = "S",                                                                              \
        .programs = kind_name##_programs,                                                          \
        .mutants = kind_name##_mutants,                                                            \
        .threads = OWNER_AND("owner", "thief"),                                                    \
        .items = true,                                                                             \
        .also_races = true,                                                                        \
        .exchangeable = true,                                                                      \
        .setup = setup,                                                                            \
        .operate = operate,                                                                        \
        .at_end = drain,                                                                           \
        .summary = summary,                                                                        \
        .value_name = value_name,                                                                  \
    }

static const program bounded_programs[] = {
    {2, 0, "PPO", {"SS"}},           {1, 0, "POPO", {"SS"}},          {1, 0, "PPPO", {"SS"}},
    {2, 0, "PPPO", {"S", "S", "S"}}, {2, 0, "PPPOO", {"SS", "SS"}},   {2, 0, "PPOPO", {"SS", "SS"}},
    {4, 0, "PPPPPO", {"SS", "SS"}},  {2, 0, "PPO", {"S", "S", "SS"}}, {0, 0, NULL, {NULL}},
};

static const mutant bounded_mutants[] = {
    WEAKER("bthread's published orders", "bounded.pop.reserve", ORDER_RELAXED, LOST, LOST, OK),
    WEAKER("no fence in pop", "bounded.pop.fence", ORDER_NONE, TWICE, TWICE, TWICE),
    WEAKER("a fence in pop that is not seq_cst", "bounded.pop.fence", ORDER_ACQ_REL, TWICE, TWICE,
           TWICE),
    WEAKER("a fence in steal that is not seq_cst", "bounded.steal.fence", ORDER_ACQ_REL, TWICE,
           TWICE, OK),
    WEAKER("no fence in steal", "bounded.steal.fence", ORDER_NONE, TWICE, TWICE, OK),
    {.what = "atomic decrement for the fence",
     .weaken = {{"bounded.pop.fence", ORDER_NONE}, {"bounded.pop.reserve", ORDER_RMW}},
     .expected = {TWICE, TWICE, OK}},
    WEAKER("push publishes relaxed", "bounded_base.push.publish", ORDER_RELAXED, LOST, LOST, OK),
    WEAKER("steal reads bottom relaxed", "bounded.steal.bottom", ORDER_RELAXED, LOST, LOST, OK),
    WEAKER("steal claims relaxed", "bounded.steal.claim", ORDER_RELAXED, OK, TWICE, OK),
    {.what = "push reads top relaxed",
     .weaken = {{"bounded_base.push.top", ORDER_RELAXED}},
     .expected = {OK, OK, OK},
     .why_kept = push_top_kept},
    WEAKER("slots not atomic", "items", ORDER_PLAIN, RACE, RACE, RACE),
    {.what = NULL},
};

DEQUE_KIND(bounded);

static const program batch_programs[] = {
    {4, 2, "PPO", {"SS"}},          {4, 2, "POPO", {"SS"}},
    {2, 2, "PPPP", {"SS"}},         {1, 2, "PPPO", {"SS"}},
    {4, 2, "PPPPOOO", {"SS"}},      {2, 2, "PPPO", {"S", "S", "S"}},
    {4, 2, "PPPPOO", {"SS", "SS"}}, {1, 2, "PPPOO", {"SS", "SS"}},
    {2, 2, "PPOPOP", {"SS", "SS"}}, {4, 3, "PPPPPO", {"SS", "SS"}},
    {2, 2, "PPPOPO", {"SS", "SS"}}, {1, 2, "PPOP", {"S", "S", "SS"}},
    {0, 0, NULL, {NULL}},
};

static const mutant batch_mutants[] = {
    WEAKER("pop reserves relaxed", "batch.pop.reserve", ORDER_RELAXED, LOST, LOST, OK),
    WEAKER("no fence in pop", "batch.pop.fence", ORDER_NONE, TWICE, TWICE, TWICE),
    WEAKER("a fence in pop that is not seq_cst", "batch.pop.fence", ORDER_ACQ_REL, TWICE, TWICE,
           TWICE),
    WEAKER("a fence in steal that is not seq_cst", "batch.steal.fence", ORDER_ACQ_REL, TWICE, TWICE,
           OK),
    WEAKER("no fence in steal", "batch.steal.fence", ORDER_NONE, TWICE, TWICE, OK),
    WEAKER("pop bumps the version relaxed", "batch.pop.bump", ORDER_RELAXED, TWICE, TWICE, OK),
    FAULT("pop bumps the version for the last item only", "batch.pop.reach", TWICE, TWICE, TWICE),
    WEAKER("push publishes relaxed", "batch.push.publish", ORDER_RELAXED, LOST, LOST, OK),
    WEAKER("steal reads bottom relaxed", "batch.steal.bottom", ORDER_RELAXED, LOST, LOST, OK),
    WEAKER("grow publishes the array relaxed", "batch.grow.array", ORDER_RELAXED, LOST, LOST, OK),
    WEAKER("steal reads the array relaxed", "batch.steal.array", ORDER_RELAXED, LOST, LOST, OK),
    FAULT("old array freed at once", "batch.grow.keep", FREED, FREED, FREED),
    WEAKER("steal claims relaxed", "batch.steal.claim", ORDER_RELAXED, OK, TWICE, OK),
    {.what = "push reads the top relaxed",
     .weaken = {{"batch.push.top", ORDER_RELAXED}},
     .expected = {OK, OK, OK},
     .why_kept = push_top_kept},
    WEAKER("slots not atomic", "items", ORDER_PLAIN, RACE, RACE, RACE),
    {.what = NULL},
};

DEQUE_KIND(batch);

static const program half_programs[] = {
    {2, 0, "PP", {"SS"}},
    {1, 0, "POPO", {"SS"}},
    {1, 0, "PPP", {"SS"}},
    {2, 0, "PPPO", {"S", "S", "S"}},
    {2, 0, "PPOPO", {"SS", "SS"}},
    {4, 0, "PPPPPO", {"SS", "SS"}},
    {2, 0, "PPOPO", {"S", "S", "SS"}},
    {0, 0, NULL, {NULL}},
};

static const mutant half_mutants[] = {
    WEAKER("push publishes relaxed", "bounded_base.push.publish", ORDER_RELAXED, LOST, LOST, OK),
    WEAKER("steal reads bottom relaxed", "half.steal.bottom", ORDER_RELAXED, LOST, LOST, OK),
    WEAKER("steal claims relaxed", "half.steal.claim", ORDER_RELAXED, OK, TWICE, OK),
    {.what = "push reads top relaxed",
     .weaken = {{"bounded_base.push.top", ORDER_RELAXED}},
     .expected = {OK, OK, OK},
     .why_kept = push_top_kept},
    WEAKER("slots not atomic", "items", ORDER_PLAIN, RACE, RACE, RACE),
    {.what = NULL},
};

DEQUE_KIND(half);

static const program locked_programs[] = {
    {1, 0, "POPO", {"SS"}},
    {2, 2, "PPO", {"SS"}},
    {2, 2, "PP", {"S", "S"}},
    {0, 0, NULL, {NULL}},
};

static const mutant locked_mutants[] = {
    WEAKER("first try locks relaxed", "lock.try", ORDER_RELAXED, TWICE, TWICE, OK),
    WEAKER("after waiting, locks relaxed", "lock.wait", ORDER_RELAXED, TWICE, TWICE, OK),
    WEAKER("unlocks relaxed", "lock.unlock", ORDER_RELAXED, TWICE, TWICE, OK),
    {.what = NULL},
};

DEQUE_KIND(locked);
