/* A waiter sees each condition that was made true before a notification, and does not sleep then.
 *
 * Owner: L wait until all conditions are true.  Thief: R make a condition true and notify. */
#include "explore/kind.h"

#include "base/eventcount.h"

#include <string.h>

static fi_eventcount word;
static FI_ATOMIC(uint32_t) made[MAX_THREADS]; /* conditions made true by each notifier */

static void setup(void)
{
    static const char *const names[MAX_THREADS] = {"", "made 1", "made 2", "made 3", "made 4"};
    x_init(&word, 0, "word");
    for (int i = 1; i < program_threads(); i++)
        x_init(&made[i], 0, names[i]);
}

static bool is_all_made(void)
{
    bool all = true;
    for (int i = 1; i < program_threads(); i++)
        all &= fi_load_relaxed(&made[i]) == strlen(program_now->thieves[i - 1]);
    return all;
}

/* As in debug/watchdog_thread.c. */
static void wait_until_all_made(void)
{
    for (;;) {
        x_forget(1);
        uint32_t ticket = fi_eventcount_prepare(&word);
        if (is_all_made())
            return;
        fi_eventcount_wait(&word, ticket, FI_FUTEX_FOREVER);
    }
}

static void make_and_notify(int thread, uint32_t n)
{
    x_say("make the condition true");
    fi_store_relaxed(&made[thread], n);
    fi_eventcount_notify(&word);
}

static void operate(const operation *op)
{
    if (op->letter == 'L')
        wait_until_all_made();
    else
        make_and_notify(op->thread, (uint32_t)op->index + 1);
}

static const program programs[] = {
    {0, 0, "L", {"R"}},       {0, 0, "L", {"RR"}},  {0, 0, "L", {"R", "R"}},
    {0, 0, "L", {"RR", "R"}}, {0, 0, NULL, {NULL}},
};

static const mutant mutants[] = {
    WEAKER("notifies relaxed", "eventcount.notify", ORDER_RELAXED, HANG, HANG, OK),
    WEAKER("prepares relaxed", "eventcount.prepare", ORDER_RELAXED, HANG, HANG, OK),
    {.what = NULL},
};

const kind eventcount_kind = {
    .name = "eventcount",
    .owner = "L",
    .thief = "R",
    .programs = programs,
    .mutants = mutants,
    .threads = OWNER_AND("waiter", "notifier"),
    .setup = setup,
    .operate = operate,
};
