/* The deadlock detector finds fibers that nothing can wake, and only those. */
#include "fib.h"
#include "main_fiber.h"
#include "refuse.h"
#include "sched/watchdog.h"
#include "unit/watchdog/helpers.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>

#define LONG_NS 400000000 /* several times the delay of the detector */

static event never;

/* With samples: the thread of an observer cannot wake a fiber. */
static void start(filch_deadlock what)
{
    filch_config c = {.workers = 2, .deadlock = what, .watchdog_ns = -1, .dump_signal = SIGUSR2};

    if (setenv("FILCH_SAMPLE", "/dev/null", 1) < 0 || filch_start(&c) < 0)
        _exit(3);
}

/* ---- deadlocks ---- */

static void name_and_wait(void *arg)
{
    filch_fiber_set_name("waiter");
    event_wait(arg);
}

static void main_waits(void *arg)
{
    (void)arg;
    start(FILCH_DEADLOCK_ABORT);
    run_main_fiber(name_and_wait, &never);
}

static filch_fiber *left, *right;

static void *join_other(void *other)
{
    filch_fiber **handle = other;

    while (!*handle)
        filch_yield(); /* until the handle is stored; there is one worker */
    filch_fiber_join(*handle, NULL);
    return NULL;
}

static void start_join_cycle(void *arg)
{
    const filch_fiber_attr l = {.name = "left"}, r = {.name = "right"};

    (void)arg;
    filch_fiber_set_name("waiter");
    left = filch_fiber_start_attr(&l, join_other, &right);
    right = filch_fiber_start_attr(&r, join_other, &left);
    filch_yield();
    event_wait(&never);
}

static void join_cycle(void *arg)
{
    (void)arg;
    filch_config c = {.workers = 1, .deadlock = FILCH_DEADLOCK_ABORT};
    if (filch_start(&c) < 0)
        _exit(3);
    run_main_fiber(start_join_cycle, NULL);
}

/* Two mutexes, locked in opposite orders, and an idle thread of the blocking pool. */
static filch_mutex first, second;

static void lock_in_reverse(void *arg)
{
    filch_mutex_lock(&second);
    event_set(arg);
    filch_mutex_lock(&first);
}

static int64_t do_nothing(void *arg)
{
    (void)arg;
    return 0;
}

static void lock_both(void *arg)
{
    event has_second = {.set = false};

    (void)arg;
    filch_fiber_set_name("waiter");
    filch_run_blocking(do_nothing, NULL);
    filch_mutex_lock(&first);
    filch_go(lock_in_reverse, &has_second);
    event_wait(&has_second);
    filch_mutex_lock(&second);
}

static void mutexes(void *arg)
{
    (void)arg;
    start(FILCH_DEADLOCK_ABORT);
    run_main_fiber(lock_both, NULL);
}

static void stop_waits(void *arg)
{
    (void)arg;
    start(FILCH_DEADLOCK_ABORT);
    filch_go(name_and_wait, &never);
    filch_stop();
}

FILCH_VOID_TASK(wait_in_task, int, n)
{
    (void)n;
    filch_fiber_set_name("waiter");
    event_wait(&never);
}

static void nothing(void *arg)
{
    (void)arg;
}

FILCH_TASK(int, same, int, n)
{
    return n;
}

static void run_waits(void *arg)
{
    (void)arg;
    start(FILCH_DEADLOCK_ABORT);
    filch_go(nothing, NULL);
    FILCH_RUN(wait_in_task, 1);
}

/* A thread that was woken is not counted as waiting any more. */
static void set_event(void *p)
{
    event_set(p);
}

static void woken_before(void *arg)
{
    (void)arg;
    start(FILCH_DEADLOCK_ABORT);
    for (int i = 0; i < 10; i++) {
        event p = {.set = false};
        filch_go(set_event, &p);
        event_wait(&p);
        FILCH_RUN(same, 1);
    }
    filch_go(name_and_wait, &never);
    filch_stop();
}

/* Another thread waits too, from the start or only after all fibers have parked. */
static void *wait_in_thread(void *slowly)
{
    if (*(bool *)slowly)
        while (!(fi_load_relaxed(&fi_watchdog_global_state) & FI_WATCHDOG_ASLEEP))
            fi_thread_yield();
    event_wait(&never);
    return NULL;
}

static void thread_waits(void *slowly)
{
    pthread_t t;

    start(FILCH_DEADLOCK_ABORT);
    if (pthread_create(&t, NULL, wait_in_thread, slowly) != 0)
        _exit(3);
    run_main_fiber(name_and_wait, &never);
}

/* ---- no thread for the watchdog ---- */

/* The calling thread cannot start threads from now on.  False: the kernel does not support that. */
static bool refuse_threads(void)
{
    return refuse_call(SYS_clone3, EAGAIN) && refuse_call(SYS_clone, EAGAIN);
}

static void start_without_watchdog(unsigned workers)
{
    filch_config c = {.workers = workers, .deadlock = FILCH_DEADLOCK_ABORT};

    if (filch_start(&c) < 0 || !refuse_threads())
        _exit(3);
}

static void main_without_watchdog(void *workers)
{
    start_without_watchdog(*(unsigned *)workers);
    run_main_fiber(name_and_wait, &never);
}

static void stop_without_watchdog(void *workers)
{
    start_without_watchdog(*(unsigned *)workers);
    filch_go(name_and_wait, &never);
    filch_stop();
}

static bool all_asleep(unsigned workers)
{
    bool yes = fi_load_relaxed(&fi_runtime_lock_running()->idle.state) == workers;

    fi_runtime_unlock_running();
    return yes;
}

/* The fiber waits, and all workers sleep, before the thread waits. */
static void late_without_watchdog(void *workers)
{
    start_without_watchdog(*(unsigned *)workers);
    filch_go(name_and_wait, &never);
    while (!contains(dump_text(), "waits for event") || !all_asleep(*(unsigned *)workers))
        fi_thread_yield();
    filch_stop();
}

/* A thread that waits with a deadline may wake others. */
static void deadline_without_watchdog(void *workers)
{
    event p = {.set = false}, q = {.set = false};
    filch_fiber *f;

    start_without_watchdog(*(unsigned *)workers);
    f = filch_fiber_start(wait_and_return, &p);
    if (event_wait_until(&q, filch_now() + LONG_NS) != -ETIMEDOUT)
        _exit(3);
    event_set(&p);
    if (filch_fiber_join(f, NULL) < 0 || filch_stop() < 0)
        _exit(3);
}

static bool has_no_watchdog(void (*fn)(void *))
{
    return fn == main_without_watchdog || fn == stop_without_watchdog ||
           fn == late_without_watchdog;
}

/* ---- tests of deadlocks ---- */

static void check_abort(void (*fn)(void *), void *arg)
{
    struct child_end end;
    char part[64];

    if (FI_UNDER_TSAN)
        return; /* its background thread counts as one that may wake a fiber */
    CHECK_INT(child_end_of(&end, fn, arg), 0);
    if (!WIFSIGNALED(end.status))
        fprintf(stderr, "status %#x, output: %s\n", (unsigned)end.status, end.text);
    CHECK(WIFSIGNALED(end.status) && WTERMSIG(end.status) == SIGABRT);
    CHECK(contains(end.text, "filch: all fibers are asleep and nothing can wake them\n"));
    CHECK(contains(end.text, "fiber 'waiter'"));
    CHECK_INT(contains(end.text, "watchdog: cannot start the thread"), has_no_watchdog(fn));
    snprintf(part, sizeof part, "waits for %s %p, for ", fn == mutexes ? "mutex" : "event",
             fn == mutexes ? (void *)&second : (void *)&never);
    CHECK(contains(end.text, part));
    if (fn == join_cycle)
        CHECK(contains(end.text, "fiber 'left'") && contains(end.text, "fiber 'right'") &&
              contains(end.text, "waits for join "));
}

static void all_kinds_are_reported(void **state)
{
    bool at_once = false, slowly = true;

    (void)state;
    if (FI_UNDER_TSAN)
        puts("skipped: ThreadSanitizer's background thread counts as one that may wake a fiber");
    check_abort(main_waits, NULL);
    check_abort(join_cycle, NULL);
    check_abort(mutexes, NULL);
    check_abort(stop_waits, NULL);
    check_abort(run_waits, NULL);
    check_abort(woken_before, NULL);
    check_abort(thread_waits, &at_once);
    check_abort(thread_waits, &slowly);
}

/* Threads of observers do not wake fibers. */
static void threads_of_observers_do_not_hide_a_deadlock(void **state)
{
    static const char *const settings[] = {"FILCH_SAMPLE", "FILCH_TRACE", "FILCH_SCALE"};

    (void)state;
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        setenv(settings[i], "/dev/null", 1);
        check_abort(main_waits, NULL);
        unsetenv(settings[i]);
    }
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        setenv(settings[i], "/dev/null", 1);
    check_abort(main_waits, NULL);
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        unsetenv(settings[i]);
}

static const char no_watchdog[] = "filch: watchdog: cannot start the thread (Resource temporarily "
                                  "unavailable); fibers that hold their worker are not reported\n";

static void try_to_refuse(void *arg)
{
    (void)arg;
    _exit(refuse_threads() ? 0 : 1);
}

static void workers_detect_deadlocks_without_a_watchdog_thread(void **state)
{
    struct child_end end;

    (void)state;
    CHECK_INT(child_end_of(&end, try_to_refuse, NULL), 0);
    if (end.status != 0) {
        puts("skipped: the kernel does not support seccomp filters");
        return;
    }
    for (unsigned workers = 1; workers <= 4; workers *= 2) {
        check_abort(main_without_watchdog, &workers);
        check_abort(stop_without_watchdog, &workers);
        check_abort(late_without_watchdog, &workers);
        CHECK_INT(child_end_of(&end, deadline_without_watchdog, &workers), 0);
        CHECK_INT(end.status, 0);
        CHECK_STR(end.text, no_watchdog);
    }
}

static void reporting(void *arg)
{
    (void)arg;
    start(FILCH_DEADLOCK_DEFAULT);
    run_main_fiber(name_and_wait, &never);
}

static void the_program_continues_after_a_report(void **state)
{
    (void)state;
    CHECK(FI_UNDER_TSAN || prints_and_lives(reporting, NULL, "waits for event"));
}

/* ---- reports ---- */

/* Messages of the level error that begin a report. */
static atomic_int n_reports;

static void count_reports(filch_level level, const char *text, void *ctx)
{
    (void)ctx;
    if (level == FILCH_LEVEL_ERROR && strncmp(text, "all fibers are asleep", 21) == 0)
        atomic_fetch_add(&n_reports, 1);
}

static void await_reports(int n)
{
    while (atomic_load(&n_reports) < n)
        usleep(1000);
}

/* The watchdog sleeps after it has checked for a deadlock twice, and work wakes it. */
static void await_watchdog_asleep(void)
{
    while (!(fi_load_relaxed(&fi_watchdog_global_state) & FI_WATCHDOG_ASLEEP))
        usleep(1000);
}

static event again;

static void wait_twice(void *arg)
{
    (void)arg;
    filch_go(name_and_wait, &again);
    event_wait(&never);
}

/* The watchdog thread calls the handler, and a thread of the program is needed to continue.  It is
 * started after the report, and it posts nothing while the fibers deadlock again. */
static void *run_between(void *arg)
{
    FILCH_RUN(fib, 5);
    return arg;
}

static void reports_once(void *arg)
{
    pthread_t thread;

    (void)arg;
    filch_set_message_handler(count_reports, NULL);
    start(FILCH_DEADLOCK_REPORT);
    if (filch_go(wait_twice, NULL) < 0)
        _exit(3);
    /* This thread does not wait in a call of Filch, so it must look blocked to the detector. */
    fi_watchdog_thread_blocks();
    await_reports(1);
    for (int i = 0; i < 3; i++) { /* the same fibers wait after work of another thread */
        await_watchdog_asleep();
        if (pthread_create(&thread, NULL, run_between, NULL) != 0)
            _exit(4);
        pthread_join(thread, NULL);
    }
    await_watchdog_asleep();
    if (atomic_load(&n_reports) != 1)
        _exit(5);
    event_set(&again); /* now one of them has ended: another deadlock */
    await_reports(2);
    _exit(0);
}

static void a_deadlock_is_reported_once(void **state)
{
    struct child_end end;

    (void)state;
    if (FI_UNDER_TSAN)
        return;
    CHECK_INT(child_end_of(&end, reports_once, NULL), 0);
    CHECK_INT(end.status, 0);
}

/* ---- no deadlock ---- */

/* End the process after LONG_NS. */
static void exit_ok(int number)
{
    (void)number;
    _exit(0);
}

static void exit_ok_later(void)
{
    const struct itimerval t = {.it_value = {.tv_usec = LONG_NS / 1000}};

    signal(SIGALRM, exit_ok);
    setitimer(ITIMER_REAL, &t, NULL);
}

static void off(void *arg)
{
    (void)arg;
    start(FILCH_DEADLOCK_OFF);
    exit_ok_later();
    run_main_fiber(name_and_wait, &never);
}

/* Another process may have the other end of a descriptor. */
static void read_pipe(void *arg)
{
    int ends[2];
    char c;

    (void)arg;
    if (filch_pipe(ends) == 0)
        filch_read(ends[0], &c, 1);
}

static void pending_read(void *arg)
{
    (void)arg;
    start(FILCH_DEADLOCK_ABORT);
    exit_ok_later();
    run_main_fiber(read_pipe, NULL);
}

static int64_t sleep_blocking(void *arg)
{
    const struct timespec t = {.tv_nsec = LONG_NS};

    (void)arg;
    return nanosleep(&t, NULL);
}

static void call_blocking(void *arg)
{
    (void)arg;
    if (filch_run_blocking(sleep_blocking, NULL) != 0)
        _exit(3);
}

static void blocking_call(void *arg)
{
    (void)arg;
    start(FILCH_DEADLOCK_ABORT);
    run_main_fiber(call_blocking, NULL);
}

static void sleep_and_open(void *p)
{
    filch_sleep(LONG_NS);
    event_set(p);
}

static void wait_for_sleeper(void *p)
{
    filch_go(sleep_and_open, p);
    event_wait(p);
}

static void timer(void *arg)
{
    event p = {.set = false};

    (void)arg;
    start(FILCH_DEADLOCK_ABORT);
    run_main_fiber(wait_for_sleeper, &p);
}

static void *sleep_in_thread(void *p)
{
    const struct timespec t = {.tv_nsec = LONG_NS};

    nanosleep(&t, NULL);
    event_set(p);
    return NULL;
}

static void thread(void *arg)
{
    event p = {.set = false};
    pthread_t t;

    (void)arg;
    start(FILCH_DEADLOCK_ABORT);
    if (pthread_create(&t, NULL, sleep_in_thread, &p) != 0)
        _exit(3);
    run_main_fiber(wait_for_event, &p);
    pthread_join(t, NULL);
}

static void deadline(void *arg)
{
    event p = {.set = false}, q = {.set = false};
    filch_fiber *f;

    (void)arg;
    start(FILCH_DEADLOCK_ABORT);
    f = filch_fiber_start(wait_and_return, &p);
    if (event_wait_until(&q, filch_now() + LONG_NS) != -ETIMEDOUT)
        _exit(3);
    event_set(&p);
    if (filch_fiber_join(f, NULL) < 0 || filch_stop() < 0)
        _exit(3);
}

/* No fiber waits: the runtime is not used. */
static void idle(void *arg)
{
    const struct timespec t = {.tv_nsec = LONG_NS};

    (void)arg;
    start(FILCH_DEADLOCK_ABORT);
    filch_go(nothing, NULL);
    nanosleep(&t, NULL);
    if (filch_stop() < 0)
        _exit(3);
}

/* A deadlock of threads alone is not reported. */
static void no_fiber(void *arg)
{
    (void)arg;
    start(FILCH_DEADLOCK_ABORT);
    filch_go(nothing, NULL);
    exit_ok_later();
    event_wait(&never);
}

static void check_no_report(void (*fn)(void *))
{
    struct child_end end;

    CHECK_INT(child_end_of(&end, fn, NULL), 0);
    if (end.status != 0)
        fprintf(stderr, "status %#x, output: %s\n", (unsigned)end.status, end.text);
    CHECK_INT(end.status, 0);
    CHECK_STR(end.text, "");
}

static void fibers_that_can_be_woken_are_not_reported(void **state)
{
    (void)state;
    check_no_report(off);
    check_no_report(pending_read);
    check_no_report(blocking_call);
    check_no_report(timer);
    check_no_report(thread);
    check_no_report(deadline);
    check_no_report(idle);
    check_no_report(no_fiber);
}

/* A thread and a fiber wake each other in turn, so one of them waits at each moment. */
#define ROUNDS 20000

static struct {
    fi_biased_lock lock;
    fi_waitq waitq;
    bool available;
} baton[2];
static FI_ATOMIC(uint32_t) rounds;

static void baton_take(int me)
{
    fi_waiter w = {.uncancellable = true};

    fi_obj_lock(&baton[me].lock);
    if (baton[me].available) {
        baton[me].available = false;
        fi_obj_unlock(&baton[me].lock);
    } else {
        fi_waitq_wait(&w, &baton[me].waitq, &baton[me].lock, (fi_wait_reason){"baton", NULL},
                      FI_TIMER_NEVER);
    }
}

static void baton_give(int other)
{
    fi_waiter *w;

    fi_obj_lock(&baton[other].lock);
    w = fi_waitq_pop(&baton[other].waitq);
    baton[other].available = !w;
    fi_obj_unlock(&baton[other].lock);
    if (w)
        fi_waiter_wake(w);
}

static void pass_baton(int me)
{
    for (uint32_t i = 0; i < (uint32_t)SCALED(ROUNDS); i++) {
        baton_take(me);
        fi_fetch_add_relaxed(&rounds, 1u);
        baton_give(1 - me);
    }
}

static void fiber_main(void *arg)
{
    (void)arg;
    pass_baton(0);
}

static void thread_and_fiber_alternate(void *arg)
{
    (void)arg;
    start(FILCH_DEADLOCK_ABORT);
    baton_give(0);
    filch_go(fiber_main, NULL);
    pass_baton(1);
    if (filch_stop() < 0 || fi_load_relaxed(&rounds) != 2 * (uint32_t)SCALED(ROUNDS))
        _exit(3);
}

static void alternating_waits_are_not_a_deadlock(void **state)
{
    (void)state;
    check_no_report(thread_and_fiber_alternate);
}

CHECK_MAIN(all_kinds_are_reported, threads_of_observers_do_not_hide_a_deadlock,
           workers_detect_deadlocks_without_a_watchdog_thread, the_program_continues_after_a_report,
           a_deadlock_is_reported_once, fibers_that_can_be_woken_are_not_reported,
           alternating_waits_are_not_a_deadlock)
