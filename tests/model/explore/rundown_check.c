/* The runtime has no users when it is freed, a user sees it initialised, and the stopper wakes when the
 * last user leaves. */
#include "explore/program.h"

#include "base/futex.h"

/* An injected fault: the last user wakes no one. */
static int rundown_wake(FI_ATOMIC(uint32_t) * word, int count)
{
    return x_fault("last_wakes") ? 0 : fi_futex_wake(word, count);
}

#define fi_futex_wake rundown_wake
#include "base/rundown.h"
#undef fi_futex_wake
#include "base/oneshot.h"

#include <string.h>

enum { RUNTIME = 0 };

static const program *now;
static fi_rundown rundown;
static FI_ATOMIC(
    uint32_t) quiet; /* a one-shot event: what kept the runtime from being freed has ended */
static bool alive;

static bool has_waker(void)
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
    if (has_waker()) { /* the fiber that it wakes exists from the start */
        alive = true;
        fi_atomic_init(&rundown.word, 0);
    }
}

/* ---- starter and stopper, as in sched/runtime.c ---- */

static void start(void)
{
    x_say("initialise the runtime");
    x_data_write(RUNTIME);
    alive = true;
    fi_rundown_open(&rundown);
}

static void stop(void)
{
    x_say("stop");
    fi_rundown_close(&rundown);
    fi_rundown_wait_empty(&rundown);
    if (has_waker()) {
        fi_oneshot_wait(&quiet);
        if (!x_fault("recheck_empty"))
            fi_rundown_wait_empty(&rundown);
    }
    x_say("free the runtime");
    x_data_write(RUNTIME);
    alive = false;
}

/* ---- users ---- */

static void use(void)
{
    x_say("use the runtime");
    if (!alive)
        x_fail(FREED, "the runtime is used while it does not exist");
    x_data_read(RUNTIME);
}

static void enter(void)
{
    x_say("enter");
    if (!fi_rundown_try_enter(&rundown))
        return;
    use();
    fi_rundown_leave(&rundown);
}

/* The woken fiber may end at once, and then the runtime may be freed. */
static void wake(void)
{
    x_say("enter unchecked");
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
            enter();
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
    static const char *const closed[] = {"closed", "closed+1", "closed+2", "closed+3"};
    return value >= FI_RUNDOWN_CLOSED && value - FI_RUNDOWN_CLOSED < 4
               ? closed[value - FI_RUNDOWN_CLOSED]
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
