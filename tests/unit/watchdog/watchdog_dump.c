/* The dump lists all fibers: name, wait reason, wait time and backtrace.  It does not disturb
 * them. */
#include "main_fiber.h"
#include "unit/watchdog/helpers.h"

#include <errno.h>
#include <fcntl.h>

#define NOINLINE __attribute__((noinline, visibility("default")))

void wait_in_this_function(void *p);

NOINLINE void wait_in_this_function(void *p)
{
    event_wait(p);
    __asm__ volatile(""); /* no tail call */
}

static void without_a_runtime(void **state)
{
    (void)state;
    CHECK_INT(filch_dump(STDOUT_FILENO), -ESRCH);
    CHECK_INT(filch_start(NULL), 0);
    CHECK_INT(filch_dump(-1), -EBADF);
    CHECK_INT(filch_stop(), 0);
}

static void await_waiting(unsigned n)
{
    for (;;) {
        const char *text = dump_text();
        unsigned waiting = 0, group;
        for (const char *at = text; (at = strstr(at, "\nfiber 'still'")) != NULL; at++)
            waiting += contains(at, "waits for event");
        for (const char *at = text; (at = strstr(at, " fibers like this: fiber 'still'")) != NULL;
             at++) {
            const char *line = at;
            while (line > text && line[-1] != '\n')
                line--;
            if (sscanf(line, "%u", &group) == 1)
                waiting += group;
        }
        if (waiting == n)
            return;
        fi_thread_yield();
    }
}

static void a_fiber_with_backtrace(void)
{
    const filch_fiber_attr attr = {.name = "still"};
    event p = {.set = false};
    char part[96];
    const char *text;

    CHECK_INT(filch_go_attr(&attr, wait_in_this_function, &p), 0);
    await_waiting(1);
    text = dump_text();
    CHECK(contains(text, "filch: 1 fiber, "));
    snprintf(part, sizeof part, " waits for event %p, for ", (void *)&p);
    CHECK(contains(text, part));
    CHECK(contains(text, "    function wait_in_this_function+0"));
#ifndef FI_CTX_BY_UCONTEXT
    CHECK(contains(text, "    at wait_in_this_function+0x"));
#endif
    event_set(&p);
}

static void test_a_fiber_with_backtrace(void **state)
{
    (void)state;
    workers_each(NULL, a_fiber_with_backtrace);
}

/* The calling fiber runs. */
static void dump_from_fiber(void *done)
{
    filch_fiber_set_name("myself");
    CHECK(contains(dump_text(), "fiber 'myself'"));
    CHECK(contains(dump_text(), " runs on worker "));
    filch_fiber_set_name("my\nself\033[2J\x7f");
    CHECK(contains(dump_text(), "fiber 'my?self?[2J?'"));
    event_set(done);
}

static void the_calling_fiber_is_listed(void)
{
    event done = {.set = false};

    CHECK_INT(filch_go(dump_from_fiber, &done), 0);
    event_wait(&done);
}

static void test_the_calling_fiber_is_listed(void **state)
{
    (void)state;
    workers_each(NULL, the_calling_fiber_is_listed);
}

/* ---- jobs ---- */

void wait_in_this_job(void *p);

NOINLINE void wait_in_this_job(void *p)
{
    event_wait(p);
    __asm__ volatile("");
}

static void wait_for_job(void *job)
{
    filch_fiber_set_name("waiter");
    CHECK_INT(filch_job_wait(job), 0);
}

static const char *await_text(const char *part)
{
    const char *text;

    while (!contains(text = dump_text(), part))
        fi_thread_yield();
    return text;
}

static filch_job *start_job(const char *name, event *p)
{
    filch_job *j = filch_job_new(wait_in_this_job, p);

    p->set = false;
    filch_job_set_name(j, name);
    CHECK_INT(filch_job_submit(j), 0);
    return j;
}

/* The fiber that runs a job, and the fiber that waits for it. */
static void jobs_are_named(void)
{
    static event named, unnamed;
    filch_job *j = start_job("cook\n", &named), *other = start_job(NULL, &unnamed);
    char part[96];

    CHECK_INT(filch_go(wait_for_job, j), 0);
    await_text(" waits for job 'cook?' 0x");
    snprintf(part, sizeof part, " waits for event %p, for ", (void *)&named);
    CHECK(contains(await_text(part), " ms, in job 'cook?'\n    function wait_in_this_job+0"));
    snprintf(part, sizeof part, " waits for event %p, for ", (void *)&unnamed);
    CHECK(contains(await_text(part), " ms, in a job\n    function wait_in_this_job+0"));
    event_set(&named);
    event_set(&unnamed);
    CHECK_INT(filch_job_wait(other), 0);
}

static void test_jobs_are_named(void **state)
{
    (void)state;
    workers_each(NULL, jobs_are_named);
}

#define MANY 1000

static void equal_fibers_are_one_paragraph(void)
{
    const filch_fiber_attr attr = {.name = "still"}, other = {.name = "other"};
    event p = {.set = false}, q = {.set = false};
    char part[96];

    for (int i = 0; i < MANY; i++)
        CHECK_INT(filch_go_attr(&attr, wait_in_this_function, i == 7 ? &q : &p), 0);
    CHECK_INT(filch_go_attr(&other, wait_in_this_function, &p), 0);
    await_waiting(MANY);
    snprintf(part, sizeof part, "\n%d fibers like this: fiber 'still' ", MANY);
    CHECK(contains(dump_text(), part));
    CHECK(contains(dump_text(), " wait for event "));
    CHECK(contains(dump_text(), " and others, for "));
    CHECK(contains(dump_text(), "\nfiber 'other' "));
    event_set(&p);
    event_set(&q);
}

static void test_equal_fibers_are_one_paragraph(void **state)
{
    (void)state;
    workers_each(NULL, equal_fibers_are_one_paragraph);
}

/* Dumps are complete while fibers start, sleep and end, and one stays parked. */
#define CHURNERS     20
#define DUMPS        200
#define TALKER_DUMPS 1000

static atomic_int stopping;

static void *tiny(void *arg)
{
    filch_yield();
    return arg;
}

static void start_and_join(void *done)
{
    while (!atomic_load(&stopping)) {
        filch_fiber *f = filch_fiber_start(tiny, &stopping);
        void *result = NULL;
        CHECK(f != NULL);
        CHECK_INT(filch_fiber_join(f, &result), 0);
        CHECK(result == &stopping);
        filch_sleep(1000);
    }
    event_set(done);
}

static void dumps_during_churn(void)
{
    const filch_fiber_attr attr = {.name = "still"};
    event done[CHURNERS], p = {.set = false};

    memset(done, 0, sizeof done);
    atomic_store(&stopping, 0);
    CHECK_INT(filch_go_attr(&attr, wait_in_this_function, &p), 0);
    await_waiting(1);
    for (int i = 0; i < CHURNERS; i++)
        CHECK_INT(filch_go(start_and_join, &done[i]), 0);
    for (int i = 0; i < SCALED(DUMPS); i++) {
        const char *text = dump_text();
        CHECK(contains(text, "\nfiber 'still' "));
#ifndef FI_CTX_BY_UCONTEXT
        CHECK(contains(strstr(text, "\nfiber 'still' "), "    at wait_in_this_function+0x"));
#endif
    }
    atomic_store(&stopping, 1);
    for (int i = 0; i < CHURNERS; i++)
        event_wait(&done[i]);
    event_set(&p);
}

static void test_dumps_during_churn(void **state)
{
    (void)state;
    workers_each(NULL, dumps_during_churn);
}

/* The backtrace of a fiber that runs and parks all the time is complete. */
#define TALKERS 16

void talk_in_this_function(void *number);
void go_deeper(size_t me, unsigned depth);

static filch_sem turn[TALKERS];

/* Frames of varying and of dynamic size. */
NOINLINE void go_deeper(size_t me, unsigned depth)
{
    volatile char *frame = __builtin_alloca(16 + 48 * (depth % 5));

    frame[0] = (char)depth;
    if (depth > 0)
        go_deeper(me, depth - 1);
    else if (filch_sem_try_wait(&turn[me]) < 0)
        filch_sem_wait(&turn[me]);
    else
        filch_yield();
    frame[1] = (char)depth;
}

NOINLINE void talk_in_this_function(void *number)
{
    size_t me = (size_t)(uintptr_t)number;

    for (unsigned i = 0; !atomic_load(&stopping); i++) {
        filch_sem_post_n(&turn[me ^ 1], i % 3 == 0 ? 3 : 0);
        go_deeper(me, i * 7 % 11);
    }
    filch_sem_post_n(&turn[me ^ 1], 1000000);
}

/* The frames are calls of go_deeper, then talk_in_this_function. */
static void check_talker(const char *paragraph)
{
    static const char deeper[] = "    at go_deeper+0x", first[] = "    at talk_in_this_function+0x";
    const char *at = strstr(paragraph, deeper), *end = strstr(paragraph, "\n\n");
    const char *runs = strstr(paragraph, " runs on worker ");

    if (runs && (!end || runs < end))
        return;
    CHECK(at != NULL && (!end || at < end));
    while (strncmp(at, deeper, sizeof deeper - 1) == 0)
        at = strchr(at, '\n') + 1;
    CHECK(strncmp(at, first, sizeof first - 1) == 0);
}

static void backtraces_of_active_fibers(void)
{
    const filch_fiber_attr attr = {.name = "talker"};

    memset(turn, 0, sizeof turn);
    atomic_store(&stopping, 0);
    for (size_t i = 0; i < TALKERS; i++)
        CHECK_INT(filch_go_attr(&attr, talk_in_this_function, (void *)(uintptr_t)i), 0);
    for (int i = 0; i < SCALED(TALKER_DUMPS); i++)
        for (const char *at = dump_text(); (at = strstr(at, "fiber 'talker'")) != NULL; at++)
            check_talker(at);
    atomic_store(&stopping, 1);
}

static void test_backtraces_of_active_fibers(void **state)
{
    (void)state;
    if (chaos_enabled())
        return; /* injected yields add frames */
#ifndef FI_CTX_BY_UCONTEXT
    workers_each(NULL, backtraces_of_active_fibers);
#endif
}

static void set_called(void *called)
{
    *(bool *)called = true;
}

static void never_started(void *arg)
{
    (void)arg;
}

static void an_unstarted_context_has_no_backtrace(void **state)
{
    static _Alignas(16) char stack[65536];
    bool called = false;
    fi_ctx c;

    (void)state;
    fi_ctx_make(&c, stack, sizeof stack, never_started, NULL);
    CHECK(!fi_ctx_unwind_from(&c, set_called, &called));
    CHECK(!called);
    fi_ctx_fini(&c);
}

/* ---- the signal ---- */

static void raise_and_wait(void *arg)
{
    filch_fiber_set_name("signalled");
    raise(SIGUSR2);
    event_wait(arg);
}

static void with_signal(void *arg)
{
    static event never;
    filch_config c = {.workers = 2, .dump_signal = SIGUSR2, .deadlock = FILCH_DEADLOCK_OFF};

    (void)arg;
    if (filch_start(&c) == 0)
        run_main_fiber(raise_and_wait, &never);
}

static void a_signal_prints_a_dump(void **state)
{
    (void)state;
    CHECK(prints_and_lives(with_signal, NULL, "fiber 'signalled'"));
}

/* All workers and the watchdog sleep when the signal arrives. */
static void with_late_signal(void *arg)
{
    static event never;
    filch_config c = {.workers = 2, .dump_signal = SIGUSR2, .deadlock = FILCH_DEADLOCK_OFF};
    const filch_fiber_attr attr = {.name = "signalled"};

    (void)arg;
    if (filch_start(&c) < 0 || filch_go_attr(&attr, wait_for_event, &never) < 0)
        _exit(3);
    while (!(fi_load_relaxed(&fi_watchdog_global_state) & FI_WATCHDOG_ASLEEP))
        fi_thread_yield();
    raise(SIGUSR2);
    filch_stop();
}

static void a_signal_prints_a_dump_while_all_sleep(void **state)
{
    (void)state;
    CHECK(prints_and_lives(with_late_signal, NULL, "waits for event"));
}

static void previous_handler(int number)
{
    (void)number;
}

static void stop_restores_the_signal_handler(void **state)
{
    filch_config c = {.workers = 2, .dump_signal = SIGUSR2};
    struct sigaction now;

    (void)state;
    signal(SIGUSR2, previous_handler);
    CHECK_INT(filch_start(&c), 0);
    CHECK_INT(sigaction(SIGUSR2, NULL, &now), 0);
    CHECK(now.sa_handler != previous_handler);
    CHECK_INT(filch_stop(), 0);
    CHECK_INT(sigaction(SIGUSR2, NULL, &now), 0);
    CHECK(now.sa_handler == previous_handler);
}

CHECK_MAIN(a_signal_prints_a_dump, a_signal_prints_a_dump_while_all_sleep, without_a_runtime,
           test_a_fiber_with_backtrace, test_the_calling_fiber_is_listed, test_jobs_are_named,
           test_equal_fibers_are_one_paragraph, test_dumps_during_churn,
           test_backtraces_of_active_fibers, an_unstarted_context_has_no_backtrace,
           stop_restores_the_signal_handler)
