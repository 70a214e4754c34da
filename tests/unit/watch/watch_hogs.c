/* Fibers that hold their worker are counted and named, and others go on without them. */
#include "unit/watch/places.h"

#define WATCHDOG_NS 2000000

static filch_config quick(unsigned workers)
{
    return (filch_config){
        .workers = workers, .watchdog_ns = WATCHDOG_NS, .guests = FILCH_GUESTS_NO};
}

static void spin_until_held(uint64_t times)
{
    while (counted().held < times)
        fi_pause();
}

static void hog_until(void *held)
{
    spin_until_held(*(const uint64_t *)held);
}

static void hog(void *arg)
{
    (void)arg;
    filch_fiber_set_name("greedy");
    spin_until_held(1);
    for (int64_t end = filch_now() + INT64_C(10) * WATCHDOG_NS; filch_now() < end;)
        fi_pause();
}

static void run_hog(void *arg)
{
    filch_config c = quick(2);

    (void)arg;
    if (filch_start(&c) == 0)
        filch_main(hog, NULL);
}

static void a_hog_is_named_once(void **state)
{
    struct child_end end;

    (void)state;
    CHECK_INT(child_end_of(&end, run_hog, NULL), 0);
    CHECK_INT(end.status, 0);
    CHECK(has(end.text, "filch: fiber 'greedy' has held worker "));
    CHECK_INT(times(end.text, "has held"), 1);
}

FILCH_TASK(int, compute, int, n)
{
    spin_until_held(1);
    return n;
}

static void nothing(void *arg)
{
    (void)arg;
}

static void run_task(void *arg)
{
    filch_config c = quick(2);

    (void)arg;
    if (filch_start(&c) < 0 || filch_go(nothing, NULL) < 0 || FILCH_RUN(compute, 7) != 7)
        _exit(1);
    filch_stop();
}

static void a_task_is_counted_and_not_named(void **state)
{
    struct child_end end;

    (void)state;
    CHECK_INT(child_end_of(&end, run_task, NULL), 0);
    CHECK_INT(end.status, 0);
    CHECK_STR(end.text, "");
}

static void hog_unwatched(void *arg)
{
    (void)arg;
    for (int64_t end = filch_now() + INT64_C(50) * WATCHDOG_NS; filch_now() < end;)
        fi_pause();
    if (counted().held != 0)
        _exit(2);
}

static void run_unwatched(void *arg)
{
    filch_config c = {.workers = 2, .watchdog_ns = -1};

    (void)arg;
    if (filch_start(&c) == 0)
        filch_main(hog_unwatched, NULL);
}

static void switched_off_it_says_nothing(void **state)
{
    struct child_end end;

    (void)state;
    CHECK_INT(child_end_of(&end, run_unwatched, NULL), 0);
    CHECK_INT(end.status, 0);
    CHECK_STR(end.text, "");
}

/* Two who talk to each other are left to one worker; one of them then keeps it, just after it has made the other ready. */
#define TALKS 200

static place turn[2][TALKS];
static atomic_bool heard_last;

static void answer(void *arg)
{
    (void)arg;
    for (int i = 0; i < TALKS; i++) {
        place_wait(&turn[0][i]);
        if (i == TALKS - 1)
            atomic_store(&heard_last, true);
        place_open(&turn[1][i]);
    }
}

static void talk_and_hog(void *arg)
{
    (void)arg;
    filch_go(answer, NULL);
    for (int i = 0; i < TALKS - 1; i++) {
        place_open(&turn[0][i]);
        place_wait(&turn[1][i]);
    }
    place_open(&turn[0][TALKS - 1]);
    while (!atomic_load(&heard_last))
        fi_pause();
}

static void who_was_made_ready_runs_beside_the_hog(void **state)
{
    (void)state;
    for (unsigned workers = 2; workers <= 8; workers *= 2) {
        filch_config c = {.workers = workers, .watchdog_ns = -1, .search_ns = -1};
        memset(turn, 0, sizeof turn);
        atomic_store(&heard_last, false);
        CHECK_INT(filch_start(&c), 0);
        CHECK_INT(filch_main(talk_and_hog, NULL), 0);
    }
}

static bool has_watcher(void)
{
    bool runs = fi_runtime_look()->watch.runs;

    fi_runtime_look_end();
    return runs;
}

FILCH_TASK(int, same, int, n)
{
    return n;
}

static void only_fibers_bring_a_watcher(void **state)
{
    (void)state;
    CHECK_INT(filch_start(NULL), 0);
    CHECK_INT(FILCH_RUN(same, 3), 3);
    CHECK(!has_watcher());
    CHECK_INT(filch_go(nothing, NULL), 0);
    CHECK(has_watcher());
    CHECK_INT(filch_stop(), 0);
}

static bool watcher_sleeps(void)
{
    return fi_load_relaxed(&fi_watch_state) & FI_WATCH_ASLEEP;
}

#define ROUNDS 3

/* It sleeps beside sleeping workers, and is there again when one of them is held. */
static void the_watcher_sleeps_and_wakes_with_the_workers(void **state)
{
    (void)state;
    for (unsigned workers = 1; workers <= 8; workers *= 2) {
        filch_config c = quick(workers);
        filch_fiber *f;
        place p = {.open = false};
        CHECK_INT(filch_start(&c), 0);
        f = filch_fiber_start(wait_at_with_handle, &p);
        CHECK(f != NULL);
        for (uint64_t round = 1; round <= ROUNDS; round++) {
            while (!watcher_sleeps())
                fi_yield();
            CHECK_INT(FILCH_RUN(same, 3), 3);
            CHECK_INT(filch_go(hog_until, &round), 0);
            while (counted().held < round)
                fi_yield();
        }
        place_open(&p);
        CHECK_INT(filch_fiber_join(f, NULL), 0);
        CHECK_INT(filch_stop(), 0);
    }
}

CHECK_MAIN(a_hog_is_named_once, a_task_is_counted_and_not_named, switched_off_it_says_nothing,
           who_was_made_ready_runs_beside_the_hog, only_fibers_bring_a_watcher,
           the_watcher_sleeps_and_wakes_with_the_workers)
