/* A replacer and a user never access the object at the same time, and each sees what the other
 * wrote.
 *
 * Owner: C close, replace the object, open.  Thief: U enter, use the object, leave.  The plain
 * accesses to the object never race. */
#include "explore/kind.h"

#include "base/use_count.h"

enum { OBJECT = 0 };

static fi_use_count uses;
static int users; /* at this moment */
static bool closed;

static void setup(void)
{
    users = 0;
    closed = false;
    fi_use_count_init(&uses);
}

static void use(uint64_t position)
{
    x_say("enter");
    fi_use_count_enter(&uses);
    x_forget(position); /* the number of retries does not matter */
    if (closed)
        x_fail(WRONG, "the object is used while it is replaced");
    users++;
    x_say("use");
    x_data_read(OBJECT);
    users--;
    if (!fi_use_count_leave(&uses))
        x_fail(WRONG, "leave reports that no thread had entered");
}

static void replace(void)
{
    x_say("try to close");
    if (!fi_use_count_try_close(&uses))
        return;
    if (users)
        x_fail(WRONG, "the object is replaced while it is used");
    closed = true;
    x_say("replace");
    x_data_write(OBJECT);
    closed = false;
    fi_use_count_open(&uses);
}

static void operate(const operation *op)
{
    if (op->letter == 'C')
        replace();
    else
        use(op->position + 1);
}

static uint64_t summary(void)
{
    return (uint64_t)users * 2 + closed;
}

static const char *value_name(uint64_t value)
{
    return value >> 63 ? "closed" : NULL;
}

static const program programs[] = {
    {0, 0, "C", {"UU"}},
    {0, 0, "CC", {"U"}},
    {0, 0, "C", {"U", "U"}},
    {0, 0, NULL, {NULL}},
};

static const mutant mutants[] = {
    WEAKER("enters relaxed", "use_count.enter", ORDER_RELAXED, RACE, RACE, RACE),
    WEAKER("leaves relaxed", "use_count.leave", ORDER_RELAXED, RACE, RACE, RACE),
    WEAKER("closes relaxed", "use_count.close", ORDER_RELAXED, RACE, RACE, RACE),
    WEAKER("opens relaxed", "use_count.open", ORDER_RELAXED, RACE, RACE, RACE),
    {.what = NULL},
};

const kind use_count_kind = {
    .name = "use_count",
    .owner = "C",
    .thief = "U",
    .programs = programs,
    .mutants = mutants,
    .threads = OWNER_AND("replacer", "user"),
    .data = {"the object"},
    .races = true,
    .exchangeable = true,
    .setup = setup,
    .operate = operate,
    .summary = summary,
    .value_name = value_name,
};
