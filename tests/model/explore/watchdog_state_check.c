/* The watchdog does not sleep for ever while a worker is awake, or after its state word has changed
 * since it read it.
 *
 * Owner: L check the workers, and sleep for ever if all of them sleep.  Thief: T a worker, finds
 * work and is busy for ever, P submit work, K borrow a worker for ever, C change the state word. */
#include "explore/kind.h"

#include "base/eventcount.h"
#include "base/futex.h"
#include "explore/workers.h"
#include "sched/watchdog_state.h"

static workers *at;
static fi_watchdog_state word;
static fi_eventcount wakeup;
static FI_ATOMIC(uint32_t) work; /* the number of pieces */
static uint64_t slept_at;        /* the state word when the watchdog fell asleep */

enum { TICK = 1 };

static bool is_worker(int thread)
{
    return thread_has(thread, "T");
}

static unsigned n_workers(void)
{
    unsigned n = 0;
    for (int i = 1; i < program_threads(); i++)
        n += is_worker(i);
    return n;
}

static void setup(void)
{
    slept_at = 0;
    at = FI_NEW(workers);
    workers_init(at);
    x_init(&word, 0, "watchdog");
    x_init(&wakeup, 0, "wakeup");
    x_init(&work, 0, "work");
}

static void notify_if(bool slept)
{
    if (slept)
        fi_eventcount_notify(&wakeup);
}

/* ---- the watchdog, as in debug/watchdog_thread.c and debug/deadlock.c ---- */

static bool fall_asleep(void *seen)
{
    return fi_watchdog_state_sleep(&word, *(const uint64_t *)seen);
}

static bool is_all_asleep(uint64_t seen)
{
    if (x_fault("sleep_lock"))
        return fi_load_relaxed(&at->idle.state) == n_workers() && fall_asleep(&seen);
    return fi_idle_all_asleep(&at->idle, n_workers(), fall_asleep, &seen);
}

static void watch(void)
{
    for (;;) {
        x_forget(1);
        uint32_t ticket = fi_eventcount_prepare(&wakeup);
        uint64_t seen = fi_load_relaxed(&word);
        bool quiet = is_all_asleep(seen);
        if (quiet)
            slept_at = seen;
        if (x_fault("prepare_first"))
            ticket = fi_eventcount_prepare(&wakeup);
        x_say(quiet ? "all sleep" : "not all sleep");
        fi_eventcount_wait(&wakeup, ticket, quiet ? FI_FUTEX_FOREVER : TICK);
        fi_watchdog_state_wake(&word);
    }
}

/* ---- workers, as in sched/find_work.c ---- */

static bool anything(void *ctx)
{
    (void)ctx;
    return fi_load_relaxed(&work) > 0;
}

static bool take(void)
{
    uint32_t n = fi_load_relaxed(&work);
    return n > 0 && fi_cas_relaxed(&work, &n, n - 1);
}

/* Then it is busy for ever. */
static void find_work(int self)
{
    bool searching = fi_idle_search_begin(&at->idle, n_workers());
    while (!searching || !take()) {
        fi_idle_sleep(&at->idle, &at->sleeper[self], searching, anything, NULL, FI_FUTEX_FOREVER);
        if (!x_fault("awake_notifies"))
            notify_if(fi_watchdog_state_wake(&word));
        searching = true;
        x_forget(2);
    }
    x_say("is busy");
    if (fi_idle_search_end(&at->idle))
        fi_idle_notify(&at->idle);
}

/* ---- other threads ---- */

static void submit_work(void)
{
    x_say("submit work");
    fi_fetch_add_relaxed(&work, 1);
    fi_idle_notify(&at->idle);
}

static void begin_waiting(void)
{
    x_say("one more thread waits");
    notify_if(fi_watchdog_state_change(&word, FI_WATCHDOG_THREAD));
}

/* As in sched/caller_runs.c. */
static void borrow(void)
{
    x_say("borrow");
    if (fi_idle_borrow(&at->idle))
        notify_if(fi_watchdog_state_wake(&word));
}

static void operate(const operation *op)
{
    if (op->letter == 'L')
        watch();
    else if (op->letter == 'P')
        submit_work();
    else if (op->letter == 'C')
        begin_waiting();
    else if (op->letter == 'K')
        borrow();
    else
        find_work(op->thread);
}

static const char *at_rest(void)
{
    for (int i = 1; i < program_threads(); i++)
        if (is_worker(i) && x_peek(&at->sleeper[i].asleep) != FI_ASLEEP)
            return "a worker is awake, and the watchdog sleeps";
    if (x_peek(&word) / FI_WATCHDOG_CHANGE != slept_at / FI_WATCHDOG_CHANGE)
        return "the state word has changed, and the watchdog sleeps";
    return NULL;
}

static uint64_t summary(void)
{
    return slept_at;
}

static const program programs[] = {
    {0, 0, "L", {"T"}},      {0, 0, "L", {"T", "P"}}, {0, 0, "L", {"T", "C"}},
    {0, 0, "L", {"T", "K"}}, {0, 0, NULL, {NULL}},
};

static const mutant mutants[] = {
    WEAKER("wakes a worker relaxed", "idle.wake", ORDER_RELAXED, HANG, HANG, OK),
    WEAKER("checks relaxed whether it is woken", "idle.woken", ORDER_RELAXED, HANG, HANG, OK),
    FAULT("a worker that wakes does not notify", "awake_notifies", HANG, HANG, HANG),
    FAULT("falls asleep without the lock of the idle workers", "sleep_lock", HANG, HANG, HANG),
    FAULT("prepares the wait after it has checked the workers", "prepare_first", HANG, HANG, HANG),
    FAULT("a change does not notify", "watchdog_state.change_notifies", HANG, HANG, HANG),
    {.what = NULL},
};

const kind watchdog_state_kind = {
    .name = "watchdog_state",
    .owner = "L",
    .thief = "TPCK",
    .programs = programs,
    .mutants = mutants,
    .threads = OWNER_AND("watchdog", "thread"),
    .setup = setup,
    .operate = operate,
    .summary = summary,
    .at_rest = at_rest,
};
