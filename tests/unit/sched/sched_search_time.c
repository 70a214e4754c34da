/* How long an idle worker searches: longer after short idle periods, within a budget. */
#include "check.h"

#include "sched/search_time.h"

#define MIN_NS INT64_C(20000)
#define MAX_NS ((int64_t)FI_SEARCH_NS_MAX)

/* A worker and its clock. */
typedef struct worker {
    fi_search_time time;
    int64_t now, run_ns, failed_ns, found_ns;
    uint64_t wakes;
} worker;

/* Run for run_ns, then be idle until work comes after idle_ns.  Returns: the limit of the search. */
static int64_t run_then_idle(worker *w, int64_t run_ns, int64_t idle_ns)
{
    int64_t limit;

    w->run_ns += run_ns;
    limit = fi_search_time_begin(&w->time, w->now += run_ns, MIN_NS);
    if (idle_ns <= limit) {
        w->found_ns += idle_ns;
        fi_search_time_found(&w->time, w->now += idle_ns, MAX_NS);
        return limit;
    }
    w->failed_ns += limit > MIN_NS ? limit : 0;
    fi_search_time_failed(&w->time, w->now + limit, limit > MIN_NS);
    fi_search_time_sleep(&w->time);
    w->wakes++;
    fi_search_time_woken(&w->time, w->now += idle_ns, MAX_NS);
    return limit;
}

/* The first sleep is short, so the next search lasts long enough. */
static void short_idle_periods_are_searched(void **state)
{
    worker w = {.now = 1};

    (void)state;
    CHECK_INT(run_then_idle(&w, 100000, 300000), MIN_NS);
    for (int i = 0; i < 100; i++)
        CHECK_INT(run_then_idle(&w, 100000, 300000), 600000);
}

/* Short idle periods inside a loop do not hide the longer ones between loops. */
static void the_longest_idle_period_counts(void **state)
{
    worker w = {.now = 1};

    (void)state;
    run_then_idle(&w, 100000, 300000);
    for (int i = 0; i < 100; i++) {
        CHECK(run_then_idle(&w, 100000, 300000) >= 300000);
        run_then_idle(&w, 100000, 21000);
        run_then_idle(&w, 100000, 21000);
    }
}

static void long_idle_periods_are_slept(void **state)
{
    worker w = {.now = 1};

    (void)state;
    run_then_idle(&w, 100000, 100000);
    CHECK_INT(run_then_idle(&w, 1000000, 50000000), 200000);
    CHECK_INT(run_then_idle(&w, 1000000, 50000000), 100000);
    CHECK_INT(run_then_idle(&w, 1000000, 50000000), 50000);
    CHECK_INT(run_then_idle(&w, 1000000, 50000000), 25000);
    for (int i = 0; i < 10; i++)
        CHECK_INT(run_then_idle(&w, 1000000, 50000000), MIN_NS);
}

/* Work that comes just after each search. */
static void searches_without_success_are_bounded(void **state)
{
    worker w = {.now = 1};
    uint64_t seed = 1;

    (void)state;
    for (int i = 0; i < 100000; i++) {
        int64_t limit = w.time.limit_ns > MIN_NS ? w.time.limit_ns : MIN_NS;
        seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
        run_then_idle(&w, (int64_t)(seed >> 33) % 20000, seed % 3 ? limit + 1 : limit / 4 + 1);
    }
    CHECK(w.failed_ns + w.found_ns / FI_SEARCH_FOUND_SHARE <=
          FI_SEARCH_NS_BUDGET + MAX_NS + w.run_ns / FI_SEARCH_RUN_SHARE +
              (int64_t)w.wakes * FI_SEARCH_NS_PER_WAKE);
    CHECK(w.failed_ns > w.run_ns / 10); /* the bound is near */
}

/* A worker that runs almost nothing sleeps, although its work comes soon. */
static void tiny_work_is_not_worth_a_search(void **state)
{
    worker w = {.now = 1};
    int64_t begin = w.now;

    (void)state;
    for (int i = 0; i < 10000; i++)
        run_then_idle(&w, 1000, 500000);
    CHECK(w.found_ns < (w.now - begin) / 4);
}

/* A borrower may have run the worker for an unknown time. */
static void sleep_earns_nothing(void **state)
{
    worker w = {.now = 1};

    (void)state;
    w.time = (fi_search_time){.spent_ns = FI_SEARCH_NS_BUDGET, .running_ns = 1};
    fi_search_time_sleep(&w.time);
    fi_search_time_begin(&w.time, INT64_C(100) * FI_SEARCH_NS_BUDGET, MIN_NS);
    CHECK_INT(w.time.spent_ns, FI_SEARCH_NS_BUDGET);
}

/* With a maximum that is the minimum, as with more workers than CPUs. */
static void the_maximum_is_kept(void **state)
{
    fi_search_time t = {0};

    (void)state;
    CHECK_INT(fi_search_time_begin(&t, 1, MIN_NS), MIN_NS);
    fi_search_time_woken(&t, 15000, MIN_NS);
    CHECK_INT(fi_search_time_begin(&t, 20000, MIN_NS), MIN_NS);
}

CHECK_MAIN(short_idle_periods_are_searched, the_longest_idle_period_counts,
           long_idle_periods_are_slept, searches_without_success_are_bounded,
           tiny_work_is_not_worth_a_search, sleep_earns_nothing, the_maximum_is_kept)
