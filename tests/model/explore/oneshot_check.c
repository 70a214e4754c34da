/* The waiter wakes, sees the result that was written before the event was set, and may free the event. */
#include "explore/program.h"

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

static uint64_t summary(void)
{
    return 0;
}

static const char *thread_name(int thread)
{
    return thread == 0 ? "setter" : "waiter";
}

static const char *data_name(int datum)
{
    (void)datum;
    return "the result";
}

static const char *value_name(uint64_t value)
{
    return value ? "set" : "unset";
}

void oneshot_check(check *c, const program *p)
{
    *c = (check){.threads = program_threads(p),
                 .races = true,
                 .setup = setup,
                 .run = run,
                 .summary = summary,
                 .thread_name = thread_name,
                 .data_name = data_name,
                 .value_name = value_name};
}
