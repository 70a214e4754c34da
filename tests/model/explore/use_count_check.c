/* A replacer and a user never have the object at the same time, and each sees what the other did. */
#include "explore/program.h"

#include "base/use_count.h"

#include <string.h>

enum { OBJECT = 0 };

static const program *now;
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
        x_fail(WRONG, "leave reports that nobody had entered");
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

static void run(int thread)
{
    const char *ops = thread == 0 ? now->owner : now->thieves[thread - 1];
    for (; *ops; ops++) {
        x_forget(2 * strlen(ops));
        if (*ops == 'C')
            replace();
        else
            use(2 * strlen(ops) - 1);
    }
    x_forget(0);
}

static uint64_t summary(void)
{
    return (uint64_t)users * 2 + closed;
}

static const char *thread_name(int thread)
{
    static const char *const names[] = {"replacer", "user 1", "user 2", "user 3"};
    return names[thread];
}

static const char *data_name(int datum)
{
    (void)datum;
    return "the object";
}

static const char *value_name(uint64_t value)
{
    return value >> 63 ? "closed" : NULL;
}

void use_count_check(check *c, const program *p)
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
