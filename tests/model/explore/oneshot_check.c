/* The waiter wakes, sees the result that was written before the event was set, and may free the
 * event.
 *
 * Owner: G write the result and set the event.  Thief: W wait, use the result, free the event. */
#include "explore/kind.h"

#include "base/oneshot.h"
#include "explore/mem.h"

enum { RESULT = 0 };

static FI_ATOMIC(uint32_t) * event;

static void setup(void)
{
    event = FI_NEW(FI_ATOMIC(uint32_t));
    x_init(event, 0, "event");
}

static void run(int thread)
{
    if (thread == 0) {
        x_say("write the result");
        x_data_write(RESULT);
        fi_oneshot_set(event);
    } else {
        fi_oneshot_wait(event);
        x_say("free the event");
        x_data_read(RESULT);
        FI_DELETE(FI_ATOMIC(uint32_t), event);
    }
}

static const char *value_name(uint64_t value)
{
    return value ? "set" : "unset";
}

static const program programs[] = {
    {0, 0, "G", {"W"}},
    {0, 0, NULL, {NULL}},
};

static const mutant mutants[] = {
    WEAKER("sets relaxed", "oneshot.set", ORDER_RELAXED, RACE, RACE, RACE),
    WEAKER("waits relaxed", "oneshot.wait", ORDER_RELAXED, RACE, RACE, RACE),
    {.what = NULL},
};

const kind oneshot_kind = {
    .name = "oneshot",
    .owner = "G",
    .thief = "W",
    .programs = programs,
    .mutants = mutants,
    .threads = {"worker", "waiter"},
    .data = {"the result"},
    .races = true,
    .setup = setup,
    .run = run,
    .value_name = value_name,
};
