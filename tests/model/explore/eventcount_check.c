/* What is said before the word rings is heard: who listens does not sleep beside it. */
#include "explore/program.h"

#include "base/eventcount.h"

#include <string.h>

static const program *now;
static fi_eventcount word;
static FI_ATOMIC(uint32_t) said[MAX_THREADS]; /* how often, by each */

static void setup(void)
{
    static const char *const names[] = {"", "said 1", "said 2", "said 3"};
    x_init(&word, 0, "word");
    for (int i = 1; i < program_threads(now); i++)
        x_init(&said[i], 0, names[i]);
}

static bool is_all_heard(void)
{
    bool all = true;
    for (int i = 1; i < program_threads(now); i++)
        all &= fi_load_relaxed(&said[i]) == strlen(now->thieves[i - 1]);
    return all;
}

/* As in sched/watch.c. */
static void listen_until_all_is_heard(void)
{
    for (;;) {
        x_forget(1);
        uint32_t heard = fi_eventcount_prepare(&word);
        if (is_all_heard())
            return;
        fi_eventcount_wait(&word, heard, FI_FUTEX_FOREVER);
    }
}

static void say(int thread, uint32_t n)
{
    x_say("say something");
    fi_store_relaxed(&said[thread], n);
    fi_eventcount_notify(&word);
}

static void run(int thread)
{
    if (thread == 0)
        listen_until_all_is_heard();
    else
        for (uint32_t n = 1; n <= strlen(now->thieves[thread - 1]); n++) {
            x_forget(n + 1);
            say(thread, n);
        }
    x_forget(0);
}

static uint64_t summary(void)
{
    return 0;
}

static const char *thread_name(int thread)
{
    static const char *const names[] = {"listener", "thread 1", "thread 2", "thread 3"};
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
