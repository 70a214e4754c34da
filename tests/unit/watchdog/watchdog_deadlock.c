/* The deadlock detector finds fibers that nothing can wake, and only those. */
#include "refuse.h"
#include "unit/watchdog/helpers.h"

#include <errno.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <sys/time.h>

#define LONG_NS 400000000 /* several times as long as a deadlock goes unseen */

static place never;

/* A thread that only looks can wake nobody either. */
static void start(filch_deadlock what)
{
    filch_config c = {
        .workers = 2, .deadlock = what, .watchdog_ns = -1, .dump_signal = SIGUSR2, .top = true};

    if (filch_start(&c) < 0)
        _exit(3);
}

/* ---- deadlocks ---- */

static void name_and_wait(void *arg)
{
    filch_fiber_set_name("waiter");
    place_wait(arg);
}

static void main_waits(void *arg)
{
    (void)arg;
    start(FILCH_DEADLOCK_DEFAULT);
    filch_main(name_and_wait, &never);
}

static filch_fiber *left, *right;

static void *join_other(void *other)
{
    filch_fiber **handle = other;

    while (!*handle)
        filch_yield(); /* it is being started; there is one worker */
    filch_fiber_join(*handle, NULL);
    return NULL;
}

static void make_circle(void *arg)
{
    const filch_fiber_attr l = {.name = "left"}, r = {.name = "right"};

    (void)arg;
    filch_fiber_set_name("waiter");
    left = filch_fiber_start_attr(&l, join_other, &right);
    right = filch_fiber_start_attr(&r, join_other, &left);
    filch_yield();
    place_wait(&never);
}

static void circle(void *arg)
{
    (void)arg;
    filch_config c = {.workers = 1};
    if (filch_start(&c) < 0)
        _exit(3);
    filch_main(make_circle, NULL);
}

/* Two mutexes, taken in two orders; and an idle blocking thread. */
static filch_mutex first, second;

static void lock_backwards(void *arg)
{
    filch_mutex_lock(&second);
    place_open(arg);
    filch_mutex_lock(&first);
}

static int64_t do_nothing(void *arg)
{
    (void)arg;
    return 0;
}

static void lock_both(void *arg)
{
    place has_second = {.open = false};

    (void)arg;
    filch_fiber_set_name("waiter");
    filch_run_blocking(do_nothing, NULL);
    filch_mutex_lock(&first);
    filch_go(lock_backwards, &has_second);
    place_wait(&has_second);
    filch_mutex_lock(&second);
}

static void mutexes(void *arg)
{
    (void)arg;
    start(FILCH_DEADLOCK_ABORT);
    filch_main(lock_both, NULL);
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
    place_wait(&never);
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

/* A thread that was woken does not count any more. */
static void open_place(void *p)
{
    place_open(p);
}

static void woken_before(void *arg)
{
    (void)arg;
    start(FILCH_DEADLOCK_ABORT);
    for (int i = 0; i < 10; i++) {
        place p = {.open = false};
        filch_go(open_place, &p);
        place_wait(&p);
        FILCH_RUN(same, 1);
    }
    filch_go(name_and_wait, &never);
    filch_stop();
}

/* The other thread waits as well, from the start or only after all else has come to rest. */
static void *wait_in_thread(void *slowly)
{
    if (*(bool *)slowly)
        while (!(fi_load_relaxed(&fi_watchdog_global_state) & FI_WATCHDOG_ASLEEP))
            fi_thread_yield();
    place_wait(&never);
    return NULL;
}

static void thread_waits(void *slowly)
{
    pthread_t t;

    start(FILCH_DEADLOCK_ABORT);
    if (pthread_create(&t, NULL, wait_in_thread, slowly) != 0)
        _exit(3);
    filch_main(name_and_wait, &never);
}

/* ---- no thread for the watchdog ---- */

/* From now on the calling thread can start no thread.  False: the kernel does not let us. */
static bool refuse_threads(void)
{
    return refuse_call(SYS_clone3, EAGAIN) && refuse_call(SYS_clone, EAGAIN);
}

static void start_unwatched(unsigned workers)
{
    filch_config c = {.workers = workers};

    if (filch_start(&c) < 0 || !refuse_threads())
        _exit(3);
}

static void unwatched_main(void *workers)
{
    start_unwatched(*(unsigned *)workers);
    filch_main(name_and_wait, &never);
}

static void unwatched_stop(void *workers)
{
    start_unwatched(*(unsigned *)workers);
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
static void unwatched_late(void *workers)
{
    start_unwatched(*(unsigned *)workers);
    filch_go(name_and_wait, &never);
    while (!has(dumped(), "waits for place") || !all_asleep(*(unsigned *)workers))
        fi_thread_yield();
    filch_stop();
}

/* A thread that waits with a deadline may wake others. */
static void unwatched_deadline(void *workers)
{
    place p = {.open = false}, q = {.open = false};
    filch_fiber *f;

    start_unwatched(*(unsigned *)workers);
    f = filch_fiber_start(wait_at_with_handle, &p);
    if (place_wait_until(&q, filch_now() + LONG_NS) != -ETIMEDOUT)
        _exit(3);
    place_open(&p);
    if (filch_fiber_join(f, NULL) < 0 || filch_stop() < 0)
        _exit(3);
}

static bool is_unwatched(void (*fn)(void *))
{
    return fn == unwatched_main || fn == unwatched_stop || fn == unwatched_late;
}

/* ---- what becomes of them ---- */

static void dies(void (*fn)(void *), void *arg)
{
    struct child_end end;
    char words[64];

    if (FI_UNDER_TSAN)
        return; /* it has a thread of its own, which nobody knows to be harmless */
    CHECK_INT(child_end_of(&end, fn, arg), 0);
    if (!WIFSIGNALED(end.status))
        fprintf(stderr, "status %#x, said: %s\n", (unsigned)end.status, end.text);
    CHECK(WIFSIGNALED(end.status) && WTERMSIG(end.status) == SIGABRT);
    CHECK(has(end.text, "filch: all fibers are asleep and nothing can wake them\n"));
    CHECK(has(end.text, "fiber 'waiter'"));
    CHECK_INT(has(end.text, "watchdog: cannot start the thread"), is_unwatched(fn));
    snprintf(words, sizeof words, "waits for %s %p, for ", fn == mutexes ? "mutex" : "place",
             fn == mutexes ? (void *)&second : (void *)&never);
    CHECK(has(end.text, words));
    if (fn == circle)
        CHECK(has(end.text, "fiber 'left'") && has(end.text, "fiber 'right'") &&
              has(end.text, "waits for join "));
}

static void all_kinds_are_found(void **state)
{
    bool at_once = false, slowly = true;

    (void)state;
    if (FI_UNDER_TSAN)
        puts("left out: ThreadSanitizer's own thread might wake somebody, as far as we know");
    dies(main_waits, NULL);
    dies(circle, NULL);
    dies(mutexes, NULL);
    dies(stop_waits, NULL);
    dies(run_waits, NULL);
    dies(woken_before, NULL);
    dies(thread_waits, &at_once);
    dies(thread_waits, &slowly);
}

/* Threads of observers do not wake fibers. */
static void observers_do_not_hide_it(void **state)
{
    static const char *const settings[] = {"FILCH_SAMPLE", "FILCH_TRACE", "FILCH_SCALE"};

    (void)state;
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        setenv(settings[i], "/dev/null", 1);
        dies(main_waits, NULL);
        unsetenv(settings[i]);
    }
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        setenv(settings[i], "/dev/null", 1);
    dies(main_waits, NULL);
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

static void workers_look_where_there_is_no_watcher(void **state)
{
    struct child_end end;

    (void)state;
    CHECK_INT(child_end_of(&end, try_to_refuse, NULL), 0);
    if (end.status != 0) {
        puts("skipped: the kernel lets a process refuse no system calls");
        return;
    }
    for (unsigned workers = 1; workers <= 4; workers *= 2) {
        dies(unwatched_main, &workers);
        dies(unwatched_stop, &workers);
        dies(unwatched_late, &workers);
        CHECK_INT(child_end_of(&end, unwatched_deadline, &workers), 0);
        CHECK_INT(end.status, 0);
        CHECK_STR(end.text, no_watchdog);
    }
}

static void reporting(void *arg)
{
    (void)arg;
    start(FILCH_DEADLOCK_REPORT);
    filch_main(name_and_wait, &never);
}

static void a_report_ends_nothing(void **state)
{
    (void)state;
    CHECK(FI_UNDER_TSAN || says_and_lives(reporting, NULL, "waits for place"));
}

/* ---- none ---- */

/* Until the time is over, whatever else the process does. */
static void end_well(int number)
{
    (void)number;
    _exit(0);
}

static void end_well_later(void)
{
    const struct itimerval t = {.it_value = {.tv_usec = LONG_NS / 1000}};

    signal(SIGALRM, end_well);
    setitimer(ITIMER_REAL, &t, NULL);
}

static void off(void *arg)
{
    (void)arg;
    start(FILCH_DEADLOCK_OFF);
    end_well_later();
    filch_main(name_and_wait, &never);
}

/* It may be the terminal, or another process, at the other end. */
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
    end_well_later();
    filch_main(read_pipe, NULL);
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
    filch_main(call_blocking, NULL);
}

static void sleep_and_open(void *p)
{
    filch_sleep(LONG_NS);
    place_open(p);
}

static void wait_for_sleeper(void *p)
{
    filch_go(sleep_and_open, p);
    place_wait(p);
}

static void timer(void *arg)
{
    place p = {.open = false};

    (void)arg;
    start(FILCH_DEADLOCK_ABORT);
    filch_main(wait_for_sleeper, &p);
}

static void *sleep_in_thread(void *p)
{
    const struct timespec t = {.tv_nsec = LONG_NS};

    nanosleep(&t, NULL);
    place_open(p);
    return NULL;
}

static void thread(void *arg)
{
    place p = {.open = false};
    pthread_t t;

    (void)arg;
    start(FILCH_DEADLOCK_ABORT);
    if (pthread_create(&t, NULL, sleep_in_thread, &p) != 0)
        _exit(3);
    filch_main(wait_at, &p);
    pthread_join(t, NULL);
}

static void deadline(void *arg)
{
    place p = {.open = false}, q = {.open = false};
    filch_fiber *f;

    (void)arg;
    start(FILCH_DEADLOCK_ABORT);
    f = filch_fiber_start(wait_at_with_handle, &p);
    if (place_wait_until(&q, filch_now() + LONG_NS) != -ETIMEDOUT)
        _exit(3);
    place_open(&p);
    if (filch_fiber_join(f, NULL) < 0 || filch_stop() < 0)
        _exit(3);
}

/* Nobody waits for anything: the runtime is just not used. */
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

/* Threads may wait for each other by mistake, too, but that is nothing to do with fibers. */
static void no_fiber(void *arg)
{
    (void)arg;
    start(FILCH_DEADLOCK_ABORT);
    filch_go(nothing, NULL);
    end_well_later();
    place_wait(&never);
}

static void lives(void (*fn)(void *))
{
    struct child_end end;

    CHECK_INT(child_end_of(&end, fn, NULL), 0);
    if (end.status != 0)
        fprintf(stderr, "status %#x, said: %s\n", (unsigned)end.status, end.text);
    CHECK_INT(end.status, 0);
    CHECK_STR(end.text, "");
}

static void who_may_be_woken_is_left_alone(void **state)
{
    (void)state;
    lives(off);
    lives(pending_read);
    lives(blocking_call);
    lives(timer);
    lives(thread);
    lives(deadline);
    lives(idle);
    lives(no_fiber);
}

/* Threads and fibers wake each other without end, one at a time: at each moment all others wait. */
#define TURNS 20000

static struct {
    fi_biased_lock lock;
    fi_waitq line;
    bool there;
} baton[2];
static FI_ATOMIC(uint32_t) turns;

static void take(int me)
{
    fi_waiter w = {.uncancellable = true};

    fi_obj_lock(&baton[me].lock);
    if (baton[me].there) {
        baton[me].there = false;
        fi_obj_unlock(&baton[me].lock);
    } else {
        fi_waitq_wait(&w, &baton[me].line, &baton[me].lock, (fi_wait_reason){"baton", NULL},
                      FI_TIMER_NEVER);
    }
}

static void give(int other)
{
    fi_waiter *w;

    fi_obj_lock(&baton[other].lock);
    w = fi_waitq_pop(&baton[other].line);
    baton[other].there = !w;
    fi_obj_unlock(&baton[other].lock);
    if (w)
        fi_waiter_wake(w);
}

static void swap_turns(int me)
{
    for (uint32_t i = 0; i < (uint32_t)SCALED(TURNS); i++) {
        take(me);
        fi_fetch_add_relaxed(&turns, 1u);
        give(1 - me);
    }
}

static void fiber_turns(void *arg)
{
    (void)arg;
    swap_turns(0);
}

static void turns_of_thread_and_fiber(void *arg)
{
    (void)arg;
    start(FILCH_DEADLOCK_ABORT);
    give(0);
    filch_go(fiber_turns, NULL);
    swap_turns(1);
    if (filch_stop() < 0 || fi_load_relaxed(&turns) != 2 * (uint32_t)SCALED(TURNS))
        _exit(3);
}

static void taking_turns_is_no_deadlock(void **state)
{
    (void)state;
    lives(turns_of_thread_and_fiber);
}

CHECK_MAIN(all_kinds_are_found, observers_do_not_hide_it, workers_look_where_there_is_no_watcher,
           a_report_ends_nothing, who_may_be_woken_is_left_alone, taking_turns_is_no_deadlock)
