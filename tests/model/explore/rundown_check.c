/* The runtime has no users when it is freed, a user sees it initialised, and the stopper wakes when
 * the last user leaves.
 *
 * Owner: O initialise the runtime and open, S close, wait and free it.  Thief: E enter, use it and
 * leave, A enter unchecked, wake the fiber that keeps it from being freed (the runtime exists from
 * the start then), use it and leave.  The runtime is used only while it exists. */
#include "explore/kind.h"

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

static fi_rundown rundown;
static FI_ATOMIC(
    uint32_t) quiet; /* a one-shot event: what kept the runtime from being freed has ended */
static bool alive;

static bool has_waker(void)
{
    for (int i = 0; i < MAX_THIEVES && program_now->thieves[i]; i++)
        if (strchr(program_now->thieves[i], 'A'))
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

static void operate(const operation *op)
{
    if (op->letter == 'O')
        start();
    else if (op->letter == 'S')
        stop();
    else if (op->letter == 'E')
        enter();
    else
        wake();
}

static uint64_t summary(void)
{
    return alive;
}

static const char *value_name(uint64_t value)
{
    static const char *const closed[] = {"closed", "closed+1", "closed+2", "closed+3"};
    return value >= FI_RUNDOWN_CLOSED && value - FI_RUNDOWN_CLOSED < 4
               ? closed[value - FI_RUNDOWN_CLOSED]
               : NULL;
}

static const program programs[] = {
    {0, 0, "OS", {"E"}},       {0, 0, "S", {"A"}},      {0, 0, "OSOS", {"EE"}},
    {0, 0, "OSO", {"E", "E"}}, {0, 0, "S", {"A", "E"}}, {0, 0, NULL, {NULL}},
};

static const mutant mutants[] = {
    WEAKER("enters relaxed", "rundown.enter", ORDER_RELAXED, RACE, RACE, RACE),
    WEAKER("leaves relaxed", "rundown.leave", ORDER_RELAXED, RACE, RACE, RACE),
    WEAKER("opens relaxed", "rundown.open", ORDER_RELAXED, RACE, RACE, RACE),
    WEAKER("reads relaxed that there are no users", "rundown.empty", ORDER_RELAXED, RACE, RACE,
           RACE),
    FAULT("the last to leave does not wake", "last_wakes", HANG, HANG, HANG),
    FAULT("does not recheck the count after the quiesce", "recheck_empty", RACE, RACE, RACE),
    {.what = NULL},
};

const kind rundown_kind = {
    .name = "rundown",
    .owner = "OS",
    .thief = "EA",
    .programs = programs,
    .mutants = mutants,
    .threads = OWNER_AND("starter", "user"),
    .data = {"the runtime"},
    .races = true,
    .exchangeable = true,
    .setup = setup,
    .operate = operate,
    .summary = summary,
    .value_name = value_name,
};
