/* Nobody is in the runtime when it is freed; who comes in sees it as it was made; and who waits until it is
 * empty hears of it. */
#include "explore/program.h"

#include "base/futex.h"

/* A fault of ours: the last who leaves wakes nobody. */
static int door_wake(FI_ATOMIC(uint32_t) * word, int count)
{
    return x_fault("last_wakes") ? 0 : fi_futex_wake(word, count);
}

#define fi_futex_wake door_wake
#include "base/rundown.h"
#undef fi_futex_wake
#include "base/oneshot.h"

#include <string.h>

enum { RUNTIME = 0 };

static const program *now;
static fi_rundown rundown;
static FI_ATOMIC(uint32_t) quiet; /* a gate: what kept the runtime from being freed has ended */
static bool alive;

static bool somebody_wakes(void)
{
    for (int i = 0; i < MAX_THIEVES && now->thieves[i]; i++)
        if (strchr(now->thieves[i], 'A'))
            return true;
    return false;
}

static void setup(void)
{
    alive = false;
    x_init(&rundown.word, FI_RUNDOWN_CLOSED, "rundown");
    x_init(&quiet, 0, "quiet");
    if (somebody_wakes()) { /* what it wakes is there from the start */
        alive = true;
        fi_atomic_init(&rundown.word, 0);
    }
}

/* ---- who starts and stops, as in sched/runtime.c ---- */

static void start(void)
{
    x_say("make the runtime");
    x_data_write(RUNTIME);
    alive = true;
    fi_rundown_open(&rundown);
}

static void stop(void)
{
    x_say("stop");
    fi_rundown_close(&rundown);
    fi_rundown_wait_empty(&rundown);
    if (somebody_wakes()) {
        fi_oneshot_wait(&quiet);
        if (!x_fault("second_look"))
            fi_rundown_wait_empty(&rundown);
    }
    x_say("free the runtime");
    x_data_write(RUNTIME);
    alive = false;
}

/* ---- who comes ---- */

static void use(void)
{
    x_say("use the runtime");
    if (!alive)
        x_fail(FREED, "the runtime is used when it is not there");
    x_data_read(RUNTIME);
}

static void come(void)
{
    x_say("enter");
    if (!fi_rundown_try_enter(&rundown))
        return;
    use();
    fi_rundown_leave(&rundown);
}

/* What waits in there is made ready, and may end at once, and all with it. */
static void wake(void)
{
    x_say("enter anyhow");
    fi_rundown_enter_unchecked(&rundown);
    fi_oneshot_set(&quiet);
    use();
    fi_rundown_leave(&rundown);
}

static void run(int thread)
{
    const char *ops = thread == 0 ? now->owner : now->thieves[thread - 1];
    for (; *ops; ops++) {
        x_forget(strlen(ops));
        if (*ops == 'O')
            start();
        else if (*ops == 'S')
            stop();
        else if (*ops == 'E')
            come();
        else
            wake();
    }
    x_forget(0);
}

static uint64_t summary(void)
{
    return alive;
}

static const char *thread_name(int thread)
{
    static const char *const names[] = {"starter", "user 1", "user 2", "user 3"};
    return names[thread];
}

static const char *data_name(int datum)
{
    (void)datum;
    return "the runtime";
}

static const char *value_name(uint64_t value)
{
    static const char *const shut[] = {"shut", "shut+1", "shut+2", "shut+3"};
    return value >= FI_RUNDOWN_CLOSED && value - FI_RUNDOWN_CLOSED < 4
               ? shut[value - FI_RUNDOWN_CLOSED]
               : NULL;
}

void rundown_check(check *c, const program *p)
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
