/* A waiter sees each condition that was made true before a notification, and does not sleep then. */
#include "explore/program.h"

#include "base/eventcount.h"

#include <string.h>

static const program *now;
static fi_eventcount word;
static FI_ATOMIC(uint32_t) made[MAX_THREADS]; /* conditions made true by each notifier */

static void setup(void)
{
    static const char *const names[] = {"", "made 1", "made 2", "made 3"};
    x_init(&word, 0, "word");
    for (int i = 1; i < program_threads(now); i++)
        x_init(&made[i], 0, names[i]);
}

static bool is_all_made(void)
{
    bool all = true;
    for (int i = 1; i < program_threads(now); i++)
        all &= fi_load_relaxed(&made[i]) == strlen(now->thieves[i - 1]);
    return all;
}

/* As in sched/watch.c. */
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

static void run(int thread)
{
    if (thread == 0)
        wait_until_all_made();
    else
        for (uint32_t n = 1; n <= strlen(now->thieves[thread - 1]); n++) {
            x_forget(n + 1);
            make_and_notify(thread, n);
        }
    x_forget(0);
}

static uint64_t summary(void)
{
    return 0;
}

static const char *thread_name(int thread)
{
    static const char *const names[] = {"waiter", "notifier 1", "notifier 2", "notifier 3"};
    return names[thread];
}

static const char *value_name(uint64_t value)
{
    (void)value;
    return NULL;
}

void eventcount_check(check *c, const program *p)
{
    now = p;
    *c = (check){.threads = program_threads(p),
                 .setup = setup,
                 .run = run,
                 .summary = summary,
                 .thread_name = thread_name,
                 .value_name = value_name};
}
