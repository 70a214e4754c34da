/* The watcher does not sleep for ever while a worker is awake, or when somebody has changed its word since it looked. */
#include "explore/program.h"

#include "base/eventcount.h"
#include "base/futex.h"
#include "explore/mem.h"
#include "sched/idle.h"
#include "sched/watchdog_state.h"

#include <string.h>

/* In the arena, as the list of sleepers is part of the state. */
typedef struct place {
    fi_idle idle;
    fi_sleeper sleeper[MAX_THREADS];
} place;

static const program *now;
static place *at;
static fi_watchdog_state word;
static fi_eventcount bell;
static FI_ATOMIC(uint32_t) work; /* so many pieces */
static uint64_t looked;          /* what the watcher saw of its word when it fell asleep */

enum { TICK = 1 };

static bool is_worker(int thread)
{
    return thread > 0 && *now->thieves[thread - 1] == 'T';
}

static unsigned workers(void)
{
    unsigned n = 0;
    for (int i = 1; i < program_threads(now); i++)
        n += is_worker(i);
    return n;
}

static void setup(void)
{
    static const char *const asleep[] = {"asleep 0", "asleep 1", "asleep 2", "asleep 3"};
    looked = 0;
    at = FI_NEW(place);
    fi_idle_init(&at->idle);
    x_init(&word, 0, "watcher");
    x_init(&bell, 0, "bell");
    x_init(&work, 0, "work");
    for (int i = 0; i < program_threads(now); i++)
        x_init(&at->sleeper[i].asleep, 0, asleep[i]);
}

static void ring_if(bool slept)
{
    if (slept)
        fi_eventcount_notify(&bell);
}

/* ---- the watcher, as in sched/watch.c and sched/stuck.c ---- */

static bool fall_asleep(void *seen)
{
    return fi_watchdog_state_sleep(&word, *(const uint64_t *)seen);
}

static bool is_all_quiet(uint64_t seen)
{
    if (x_fault("locked"))
        return fi_load_relaxed(&at->idle.state) == workers() && fall_asleep(&seen);
    return fi_idle_all_asleep(&at->idle, workers(), fall_asleep, &seen);
}

static void watch(void)
{
    for (;;) {
        x_forget(1);
        uint32_t heard = fi_eventcount_prepare(&bell);
        uint64_t seen = fi_load_relaxed(&word);
        bool quiet = is_all_quiet(seen);
        if (quiet)
            looked = seen;
        if (x_fault("hears_first"))
            heard = fi_eventcount_prepare(&bell);
        x_say(quiet ? "all sleep" : "not all sleep");
        fi_eventcount_wait(&bell, heard, quiet ? FI_FUTEX_FOREVER : TICK);
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
    bool searching = fi_idle_search_begin(&at->idle, workers());
    while (!searching || !take()) {
        fi_idle_sleep(&at->idle, &at->sleeper[self], searching, anything, NULL, FI_FUTEX_FOREVER);
        if (!x_fault("stirs"))
            ring_if(fi_watchdog_state_wake(&word));
        searching = true;
        x_forget(2);
    }
    x_say("is busy");
    if (fi_idle_search_end(&at->idle))
        fi_idle_notify(&at->idle);
}

/* ---- others ---- */

static void put_work(void)
{
    x_say("put work");
    fi_fetch_add_relaxed(&work, 1);
    fi_idle_notify(&at->idle);
}

static void begin_waiting(void)
{
    x_say("one more thread waits");
    ring_if(fi_watchdog_state_change(&word, FI_WATCHDOG_THREAD));
}

/* Like sched/caller_runs.c. */
static void borrow(void)
{
    x_say("borrow");
    if (fi_idle_borrow(&at->idle))
        ring_if(fi_watchdog_state_wake(&word));
}

static void run(int thread)
{
    const char *op = "";

    if (thread == 0)
        watch();
    else
        op = now->thieves[thread - 1];
    for (; *op; op++) {
        x_forget(4 * strlen(op));
        if (*op == 'P')
            put_work();
        else if (*op == 'C')
            begin_waiting();
        else if (*op == 'K')
            borrow();
        else
            find_work(thread);
    }
    x_forget(0);
}

/* ---- */

static const char *at_rest(void)
{
    for (int i = 1; i < program_threads(now); i++)
        if (is_worker(i) && x_peek(&at->sleeper[i].asleep) != FI_ASLEEP)
            return "a worker is awake, and the watcher sleeps";
    if (x_peek(&word) / FI_WATCHDOG_CHANGE != looked / FI_WATCHDOG_CHANGE)
        return "something was changed, and the watcher sleeps";
    return NULL;
}

static uint64_t summary(void)
{
    return looked;
}

static const char *thread_name(int thread)
{
    static const char *const names[] = {"watcher", "thread 1", "thread 2", "thread 3"};
    return names[thread];
}

static const char *value_name(uint64_t value)
{
    (void)value;
    return NULL;
}

void watchdog_state_check(check *c, const program *p)
{
    now = p;
    *c = (check){.threads = program_threads(p),
                 .setup = setup,
                 .run = run,
                 .summary = summary,
                 .at_rest = at_rest,
                 .thread_name = thread_name,
                 .value_name = value_name};
}
