/* Fibers that hold their worker for long are counted and reported, and other fibers run on other
 * workers. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* SCHED_IDLE, cpu_set_t */
#endif
#include "main_fiber.h"
#include "unit/watchdog/helpers.h"

#include <sched.h>
#include <sys/prctl.h>

#define WATCHDOG_NS 2000000

static filch_config short_watchdog(unsigned workers)
{
    return (filch_config){
        .workers = workers, .watchdog_ns = WATCHDOG_NS, .caller_runs = FILCH_CALLER_RUNS_NO};
}

static void spin_until_held(uint64_t count_of)
{
    while (total_counters().long_runs < count_of)
        fi_pause();
}

static void run_long_until(void *held)
{
    spin_until_held(*(const uint64_t *)held);
}

static void long_run(void *arg)
{
    (void)arg;
    filch_fiber_set_name("gre\ned\033y");
    spin_until_held(1);
    for (int64_t end = filch_now() + INT64_C(10) * WATCHDOG_NS; filch_now() < end;)
        fi_pause();
}

static void run_long_running(void *arg)
{
    filch_config c = short_watchdog(2);

    (void)arg;
    if (filch_start(&c) == 0)
        run_main_fiber(long_run, NULL);
}

static void a_long_running_fiber_is_reported_once(void **state)
{
    struct child_end end;

    (void)state;
    CHECK_INT(child_end_of(&end, run_long_running, NULL), 0);
    CHECK_INT(end.status, 0);
    CHECK(contains(end.text, "filch: fiber 'gre?ed?y' has held worker "));
    CHECK_INT(count_of(end.text, "has held"), 1);
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
    filch_config c = short_watchdog(2);

    (void)arg;
    if (pipe(ends) < 0 || filch_start(&c) < 0 || filch_go(block, NULL) < 0)
        _exit(3);
    while (total_counters().long_runs == 0)
        fi_thread_yield();
    if (write(ends[1], "", 1) != 1 || filch_stop() < 0)
        _exit(3);
}

static void a_fiber_in_a_blocking_call_is_reported(void **state)
{
    struct child_end end;

    (void)state;
    CHECK_INT(child_end_of(&end, run_blocked, NULL), 0);
    CHECK_INT(end.status, 0);
    CHECK(contains(end.text, "filch: fiber 'blocked' has held worker "));
}

/* ---- preempted by the kernel ---- */

#define STARVED_NS (INT64_C(10) * WATCHDOG_NS)
#define STARVED    3 /* times */

/* The time that this thread has waited for a CPU; -1: the kernel does not report it. */
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

#define STARVED_WATCHDOG_NS (INT64_C(4) * WATCHDOG_NS)

static int64_t ran_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * FILCH_S(1) + t.tv_nsec;
}

/* A fiber that yields all the time on a thread that seldom runs.  The watchdog may count it only if
 * the thread ran for long between two yields. */
static void yield_starved(void *arg)
{
    const busy_process *busy = arg;
    uint64_t n_slow = 0;
    int starved = 0;

    starve(busy->cpu);
    for (int64_t last = waited_ns(), ran = ran_ns(); starved < STARVED;) {
        int64_t now, ran_before = ran;
        filch_yield();
        now = waited_ns();
        ran = ran_ns();
        starved += now - last >= STARVED_NS;
        n_slow += ran - ran_before >= STARVED_WATCHDOG_NS;
        last = now;
    }
    kill(busy->pid, SIGKILL);
    if (total_counters().long_runs > n_slow)
        _exit(2);
}

static void run_starved(void *arg)
{
    busy_process busy = start_busy_process();
    filch_config c = short_watchdog(1);

    (void)arg;
    c.watchdog_ns = STARVED_WATCHDOG_NS;
    if (filch_start(&c) == 0)
        run_main_fiber(yield_starved, &busy);
}

static void a_preempted_fiber_is_not_reported(void **state)
{
    struct child_end end;

    (void)state;
    if (waited_ns() < 0) {
        puts("skipped: the kernel does not report how long a thread waited for a CPU");
        return;
    }
    CHECK_INT(child_end_of(&end, run_starved, NULL), 0);
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
    filch_config c = short_watchdog(2);

    (void)arg;
    if (filch_start(&c) < 0 || filch_go(nothing, NULL) < 0 || FILCH_RUN(compute, 7) != 7)
        _exit(1);
    filch_stop();
}

static void a_long_running_task_is_counted_but_not_reported(void **state)
{
    struct child_end end;

    (void)state;
    CHECK_INT(child_end_of(&end, run_task, NULL), 0);
    CHECK_INT(end.status, 0);
    CHECK_STR(end.text, "");
}

/* The caller runs one task after the other; its worker does not search for work in between. */
#define SHORT_TASKS 3000

FILCH_TASK(int, compute_short, int, n)
{
    for (int i = 0; i < 2000; i++)
        fi_pause();
    return n;
}

static void *wait_long(void *p)
{
    event_wait(p);
    return NULL;
}

/* Run n short tasks one after the other.  Returns: the number of tasks that took longer than the
 * watchdog allows, measured from the start of the task before.  A busy machine causes that. */
static uint64_t run_short_tasks(int n)
{
    int64_t previous = filch_now(), begin = previous;
    uint64_t n_slow = 0;

    for (int i = 0; i < n; i++) {
        int64_t end;
        CHECK_INT(FILCH_RUN(compute_short, i), i);
        end = filch_now();
        n_slow += end - previous >= WATCHDOG_NS;
        previous = begin;
        begin = end;
    }
    return n_slow;
}

static void short_tasks_of_a_caller_are_not_counted(void **state)
{
    filch_config c = {.workers = 1, .watchdog_ns = WATCHDOG_NS};
    event p = {.set = false};
    filch_fiber *f;
    uint64_t n_slow;

    (void)state;
    CHECK_INT(filch_start(&c), 0);
    f = filch_fiber_start(wait_long, &p);
    CHECK(f != NULL);
    n_slow = run_short_tasks(SCALED(SHORT_TASKS));
    CHECK(total_counters().long_runs <= n_slow);
    event_set(&p);
    CHECK_INT(filch_fiber_join(f, NULL), 0);
    CHECK_INT(filch_stop(), 0);
}

static void run_long_without_watchdog(void *arg)
{
    (void)arg;
    for (int64_t end = filch_now() + INT64_C(50) * WATCHDOG_NS; filch_now() < end;)
        fi_pause();
    if (total_counters().long_runs != 0)
        _exit(2);
}

static void run_without_watchdog(void *arg)
{
    filch_config c = {.workers = 2, .watchdog_ns = -1};

    (void)arg;
    if (filch_start(&c) == 0)
        run_main_fiber(run_long_without_watchdog, NULL);
}

static void a_disabled_watchdog_reports_nothing(void **state)
{
    struct child_end end;

    (void)state;
    CHECK_INT(child_end_of(&end, run_without_watchdog, NULL), 0);
    CHECK_INT(end.status, 0);
    CHECK_STR(end.text, "");
}

/* Two fibers that wake each other share a worker.  Then one of them makes the other ready and holds
 * the worker. */
#define MESSAGES 200

static event message[2][MESSAGES];
static atomic_bool last_received;

static void reply(void *arg)
{
    (void)arg;
    for (int i = 0; i < MESSAGES; i++) {
        event_wait(&message[0][i]);
        if (i == MESSAGES - 1)
            atomic_store(&last_received, true);
        event_set(&message[1][i]);
    }
}

static void talk_and_hold_worker(void *arg)
{
    (void)arg;
    filch_go(reply, NULL);
    for (int i = 0; i < MESSAGES - 1; i++) {
        event_set(&message[0][i]);
        event_wait(&message[1][i]);
    }
    event_set(&message[0][MESSAGES - 1]);
    while (!atomic_load(&last_received))
        fi_pause();
}

static void a_ready_fiber_runs_beside_a_long_running_one(void **state)
{
    (void)state;
    set_lab_settings((lab_settings){.search_ns = "0"});
    for (unsigned workers = 2; workers <= 8; workers *= 2) {
        filch_config c = {.workers = workers, .watchdog_ns = -1};
        memset(message, 0, sizeof message);
        atomic_store(&last_received, false);
        CHECK_INT(filch_start(&c), 0);
        CHECK_INT(run_main_fiber(talk_and_hold_worker, NULL), 0);
        CHECK_INT(filch_stop(), 0);
    }
    set_lab_settings((lab_settings){0});
}

static bool has_watchdog_thread(void)
{
    bool runs = fi_runtime_lock_running()->watchdog.running;

    fi_runtime_unlock_running();
    return runs;
}

FILCH_TASK(int, same, int, n)
{
    return n;
}

static void only_fibers_start_the_watchdog_thread(void **state)
{
    (void)state;
    CHECK_INT(filch_start(NULL), 0);
    CHECK_INT(FILCH_RUN(same, 3), 3);
    CHECK(!has_watchdog_thread());
    CHECK_INT(filch_go(nothing, NULL), 0);
    CHECK(has_watchdog_thread());
    CHECK_INT(filch_stop(), 0);
}

static bool watchdog_sleeps(void)
{
    return fi_load_relaxed(&fi_watchdog_global_state) & FI_WATCHDOG_ASLEEP;
}

#define ROUNDS 3

/* The watchdog sleeps while all workers sleep, and reports again when one of them is held. */
static void the_watchdog_sleeps_and_wakes_with_the_workers(void **state)
{
    (void)state;
    for (unsigned workers = 1; workers <= 8; workers *= 2) {
        filch_config c = short_watchdog(workers);
        filch_fiber *f;
        event p = {.set = false};
        CHECK_INT(filch_start(&c), 0);
        f = filch_fiber_start(wait_and_return, &p);
        CHECK(f != NULL);
        for (uint64_t round = 1; round <= ROUNDS; round++) {
            while (!watchdog_sleeps())
                fi_thread_yield();
            CHECK_INT(FILCH_RUN(same, 3), 3);
            CHECK_INT(filch_go(run_long_until, &round), 0);
            while (total_counters().long_runs < round)
                fi_thread_yield();
        }
        event_set(&p);
        CHECK_INT(filch_fiber_join(f, NULL), 0);
        CHECK_INT(filch_stop(), 0);
    }
}

CHECK_MAIN(a_long_running_fiber_is_reported_once, a_fiber_in_a_blocking_call_is_reported,
           a_preempted_fiber_is_not_reported, short_tasks_of_a_caller_are_not_counted,
           a_long_running_task_is_counted_but_not_reported, a_disabled_watchdog_reports_nothing,
           a_ready_fiber_runs_beside_a_long_running_one, only_fibers_start_the_watchdog_thread,
           the_watchdog_sleeps_and_wakes_with_the_workers)
