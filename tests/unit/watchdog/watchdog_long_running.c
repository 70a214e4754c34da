/* Fibers that hold their worker for long are counted and named, and other fibers run on other
 * workers. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* SCHED_IDLE, cpu_set_t */
#endif
#include "unit/watchdog/helpers.h"

#include <sched.h>
#include <sys/prctl.h>

#define WATCHDOG_NS 2000000

static filch_config quick(unsigned workers)
{
    return (filch_config){
        .workers = workers, .watchdog_ns = WATCHDOG_NS, .caller_runs = FILCH_CALLER_RUNS_NO};
}

static void spin_until_held(uint64_t times)
{
    while (counted().long_runs < times)
        fi_pause();
}

static void hog_until(void *held)
{
    spin_until_held(*(const uint64_t *)held);
}

static void long_run(void *arg)
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
        filch_main(long_run, NULL);
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

/* ---- blocked in a system call ---- */

static int ends[2];

static void block(void *arg)
{
    char c;

    filch_fiber_set_name("blocked");
    CHECK_INT(read(ends[0], &c, 1), 1);
    (void)arg;
}

static void run_blocked(void *arg)
{
    filch_config c = quick(2);

    (void)arg;
    if (pipe(ends) < 0 || filch_start(&c) < 0 || filch_go(block, NULL) < 0)
        _exit(3);
    while (counted().long_runs == 0)
        fi_thread_yield();
    if (write(ends[1], "", 1) != 1 || filch_stop() < 0)
        _exit(3);
}

static void a_blocking_call_is_named(void **state)
{
    struct child_end end;

    (void)state;
    CHECK_INT(child_end_of(&end, run_blocked, NULL), 0);
    CHECK_INT(end.status, 0);
    CHECK(has(end.text, "filch: fiber 'blocked' has held worker "));
}

/* ---- kept from running ---- */

#define STARVED_NS (INT64_C(10) * WATCHDOG_NS)
#define STARVED    3 /* times */

/* How long this thread has waited for a CPU; -1: the kernel does not tell. */
static int64_t waited_ns(void)
{
    FILE *f = fopen("/proc/thread-self/schedstat", "r");
    long long run = 0, wait = 0;
    bool known = f && fscanf(f, "%lld %lld", &run, &wait) == 2 && run > 0;

    if (f)
        fclose(f);
    return known ? (int64_t)wait : -1;
}

static void stay_on(int cpu)
{
    cpu_set_t one;

    CPU_ZERO(&one);
    CPU_SET((size_t)cpu, &one);
    if (sched_setaffinity(0, sizeof one, &one) < 0)
        _exit(3);
}

typedef struct busy_process {
    pid_t pid;
    int cpu;
} busy_process;

/* Start a process that keeps this CPU busy.  Before the runtime starts, because fork(2) can take
 * longer than the watchdog allows. */
static busy_process start_busy_process(void)
{
    busy_process busy = {.cpu = sched_getcpu()};

    busy.pid = fork();
    if (busy.pid < 0)
        _exit(3);
    if (busy.pid == 0) {
        stay_on(busy.cpu);
        for (prctl(PR_SET_PDEATHSIG, SIGKILL);;)
            fi_pause();
    }
    return busy;
}

/* Compete with the busy process at the lowest priority. */
static void starve(int cpu)
{
    const struct sched_param none = {0};

    stay_on(cpu);
    if (sched_setscheduler(0, SCHED_IDLE, &none) < 0)
        _exit(3);
}

/* It yields all the time, but seldom runs. */
static void yield_starved(void *arg)
{
    const busy_process *busy = arg;
    int starved = 0;

    starve(busy->cpu);
    for (int64_t last = waited_ns(); starved < STARVED;) {
        int64_t now;
        filch_yield();
        now = waited_ns();
        starved += now - last >= STARVED_NS;
        last = now;
    }
    kill(busy->pid, SIGKILL);
    if (counted().long_runs != 0)
        _exit(2);
}

static void run_starved(void *arg)
{
    busy_process busy = start_busy_process();
    filch_config c = quick(1);

    (void)arg;
    c.watchdog_ns *= 4;
    if (filch_start(&c) == 0)
        filch_main(yield_starved, &busy);
}

static void who_waits_for_a_cpu_is_not_named(void **state)
{
    struct child_end end;

    (void)state;
    if (waited_ns() < 0) {
        puts("skipped: the kernel does not tell how long a thread waited for a CPU");
        return;
    }
    CHECK_INT(child_end_of(&end, run_starved, NULL), 0);
    CHECK_STR(end.text, "");
    CHECK_INT(end.status, 0);
}

/* ---- tasks ---- */

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

/* One after the other, without a look for work in between. */
#define SHORT_TASKS 3000

FILCH_TASK(int, compute_shortly, int, n)
{
    for (int i = 0; i < 2000; i++)
        fi_pause();
    return n;
}

static void *wait_long(void *p)
{
    place_wait(p);
    return NULL;
}

static void tasks_of_guests_are_short(void **state)
{
    filch_config c = {.workers = 1, .watchdog_ns = WATCHDOG_NS};
    place p = {.open = false};
    filch_fiber *f;

    (void)state;
    CHECK_INT(filch_start(&c), 0);
    f = filch_fiber_start(wait_long, &p);
    CHECK(f != NULL);
    for (int i = 0; i < SCALED(SHORT_TASKS); i++)
        CHECK_INT(FILCH_RUN(compute_shortly, i), i);
    CHECK_INT(counted().long_runs, 0);
    place_open(&p);
    CHECK_INT(filch_fiber_join(f, NULL), 0);
    CHECK_INT(filch_stop(), 0);
}

static void hog_unwatched(void *arg)
{
    (void)arg;
    for (int64_t end = filch_now() + INT64_C(50) * WATCHDOG_NS; filch_now() < end;)
        fi_pause();
    if (counted().long_runs != 0)
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
    set_lab_settings((lab_settings){.search_ns = "0"});
    for (unsigned workers = 2; workers <= 8; workers *= 2) {
        filch_config c = {.workers = workers, .watchdog_ns = -1};
        memset(turn, 0, sizeof turn);
        atomic_store(&heard_last, false);
        CHECK_INT(filch_start(&c), 0);
        CHECK_INT(filch_main(talk_and_hog, NULL), 0);
    }
    set_lab_settings((lab_settings){0});
}

static bool has_watcher(void)
{
    bool runs = fi_runtime_lock_running()->watchdog.running;

    fi_runtime_unlock_running();
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
    return fi_load_relaxed(&fi_watchdog_global_state) & FI_WATCHDOG_ASLEEP;
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
                fi_thread_yield();
            CHECK_INT(FILCH_RUN(same, 3), 3);
            CHECK_INT(filch_go(hog_until, &round), 0);
            while (counted().long_runs < round)
                fi_thread_yield();
        }
        place_open(&p);
        CHECK_INT(filch_fiber_join(f, NULL), 0);
        CHECK_INT(filch_stop(), 0);
    }
}

CHECK_MAIN(a_hog_is_named_once, a_blocking_call_is_named, who_waits_for_a_cpu_is_not_named,
           tasks_of_guests_are_short, a_task_is_counted_and_not_named, switched_off_it_says_nothing,
           who_was_made_ready_runs_beside_the_hog, only_fibers_bring_a_watcher,
           the_watcher_sleeps_and_wakes_with_the_workers)
