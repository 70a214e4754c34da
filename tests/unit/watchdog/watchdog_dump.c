/* The dump lists all fibers: name, wait reason, wait time and backtrace.  It does not disturb
 * them. */
#include "unit/watchdog/helpers.h"

#include <errno.h>
#include <fcntl.h>

#define NOINLINE __attribute__((noinline, visibility("default")))

void wait_in_this_function(void *p);

NOINLINE void wait_in_this_function(void *p)
{
    place_wait(p);
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
        const char *text = dumped();
        unsigned waiting = 0, group;
        for (const char *at = text; (at = strstr(at, "\nfiber 'still'")) != NULL; at++)
            waiting += has(at, "waits for place");
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

static void one_fiber_in_full(void)
{
    const filch_fiber_attr attr = {.name = "still"};
    place p = {.open = false};
    char words[96];
    const char *text;

    CHECK_INT(filch_go_attr(&attr, wait_in_this_function, &p), 0);
    await_waiting(1);
    text = dumped();
    CHECK(has(text, "filch: 1 fibers, "));
    snprintf(words, sizeof words, " waits for place %p, for ", (void *)&p);
    CHECK(has(text, words));
    CHECK(has(text, "    function wait_in_this_function+0"));
#ifndef FI_CTX_BY_UCONTEXT
    CHECK(has(text, "    at wait_in_this_function+0x"));
#endif
    place_open(&p);
}

static void test_one_fiber_in_full(void **state)
{
    (void)state;
    workers_each(NULL, one_fiber_in_full);
}

/* The calling fiber runs. */
static void dump_oneself(void *done)
{
    filch_fiber_set_name("myself");
    CHECK(has(dumped(), "fiber 'myself'"));
    CHECK(has(dumped(), " runs on worker "));
    place_open(done);
}

static void who_calls_is_in_it(void)
{
    place done = {.open = false};

    CHECK_INT(filch_go(dump_oneself, &done), 0);
    place_wait(&done);
}

static void test_who_calls_is_in_it(void **state)
{
    (void)state;
    workers_each(NULL, who_calls_is_in_it);
}

#define MANY 1000

static void equals_are_one_paragraph(void)
{
    const filch_fiber_attr attr = {.name = "still"}, other = {.name = "other"};
    place p = {.open = false}, q = {.open = false};
    char words[96];

    for (int i = 0; i < MANY; i++)
        CHECK_INT(filch_go_attr(&attr, wait_in_this_function, i == 7 ? &q : &p), 0);
    CHECK_INT(filch_go_attr(&other, wait_in_this_function, &p), 0);
    await_waiting(MANY);
    snprintf(words, sizeof words, "\n%d fibers like this: fiber 'still' ", MANY);
    CHECK(has(dumped(), words));
    CHECK(has(dumped(), " wait for place "));
    CHECK(has(dumped(), " and others, for "));
    CHECK(has(dumped(), "\nfiber 'other' "));
    place_open(&p);
    place_open(&q);
}

static void test_equals_are_one_paragraph(void **state)
{
    (void)state;
    workers_each(NULL, equals_are_one_paragraph);
}

/* While fibers start, talk, sleep and end, and one stands still, all dumps are whole. */
#define STORM 20
#define DUMPS 200
#define TALKS 1000

static atomic_int storm_over;

static void *tiny(void *arg)
{
    filch_yield();
    return arg;
}

static void blow(void *done)
{
    while (!atomic_load(&storm_over)) {
        filch_fiber *f = filch_fiber_start(tiny, &storm_over);
        void *result = NULL;
        CHECK(f != NULL);
        CHECK_INT(filch_fiber_join(f, &result), 0);
        CHECK(result == &storm_over);
        filch_sleep(1000);
    }
    place_open(done);
}

static void a_storm_goes_on(void)
{
    const filch_fiber_attr attr = {.name = "still"};
    place done[STORM], p = {.open = false};

    memset(done, 0, sizeof done);
    atomic_store(&storm_over, 0);
    CHECK_INT(filch_go_attr(&attr, wait_in_this_function, &p), 0);
    await_waiting(1);
    for (int i = 0; i < STORM; i++)
        CHECK_INT(filch_go(blow, &done[i]), 0);
    for (int i = 0; i < SCALED(DUMPS); i++) {
        const char *text = dumped();
        CHECK(has(text, "\nfiber 'still' "));
#ifndef FI_CTX_BY_UCONTEXT
        CHECK(has(strstr(text, "\nfiber 'still' "), "    at wait_in_this_function+0x"));
#endif
    }
    atomic_store(&storm_over, 1);
    for (int i = 0; i < STORM; i++)
        place_wait(&done[i]);
    place_open(&p);
}

static void test_a_storm_goes_on(void **state)
{
    (void)state;
    workers_each(NULL, a_storm_goes_on);
}

/* Fibers that go on all the time are seen where they were, whole. */
#define TALKERS 16

void talk_in_this_function(void *number);
void go_deeper(size_t me, unsigned depth);

static filch_sem turn[TALKERS];

/* Frames of another size each time, and sizes that only the frame itself knows. */
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

    for (unsigned i = 0; !atomic_load(&storm_over); i++) {
        filch_sem_post_n(&turn[me ^ 1], i % 3 == 0 ? 3 : 0);
        go_deeper(me, i * 7 % 11);
    }
    filch_sem_post_n(&turn[me ^ 1], 1000000);
}

/* Calls of go_deeper stand in a row, and then comes who called the first. */
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

static void talkers_are_where_they_were(void)
{
    const filch_fiber_attr attr = {.name = "talker"};

    memset(turn, 0, sizeof turn);
    atomic_store(&storm_over, 0);
    for (size_t i = 0; i < TALKERS; i++)
        CHECK_INT(filch_go_attr(&attr, talk_in_this_function, (void *)(uintptr_t)i), 0);
    for (int i = 0; i < SCALED(TALKS); i++)
        for (const char *at = dumped(); (at = strstr(at, "fiber 'talker'")) != NULL; at++)
            check_talker(at);
    atomic_store(&storm_over, 1);
}

static void test_talkers_are_where_they_were(void **state)
{
    (void)state;
    if (has_bad_luck())
        return; /* in what they call as well */
#ifndef FI_CTX_BY_UCONTEXT
    workers_each(NULL, talkers_are_where_they_were);
#endif
}

static void is_called(void *called)
{
    *(bool *)called = true;
}

static void never_begun(void *arg)
{
    (void)arg;
}

static void what_has_not_begun_is_nowhere(void **state)
{
    static _Alignas(16) char stack[65536];
    bool called = false;
    fi_ctx c;

    (void)state;
    fi_ctx_make(&c, stack, sizeof stack, never_begun, NULL);
    CHECK(!fi_ctx_unwind_from(&c, is_called, &called));
    CHECK(!called);
    fi_ctx_fini(&c);
}

/* ---- the signal ---- */

static void raise_and_wait(void *arg)
{
    filch_fiber_set_name("signalled");
    raise(SIGUSR2);
    place_wait(arg);
}

static void with_signal(void *arg)
{
    static place never;
    filch_config c = {.workers = 2, .dump_signal = SIGUSR2, .deadlock = FILCH_DEADLOCK_OFF};

    (void)arg;
    if (filch_start(&c) == 0)
        filch_main(raise_and_wait, &never);
}

static void a_signal_brings_it(void **state)
{
    (void)state;
    CHECK(says_and_lives(with_signal, NULL, "fiber 'signalled'"));
}

/* Also to a runtime that is at rest, and whose watchdog sleeps. */
static void with_late_signal(void *arg)
{
    static place never;
    filch_config c = {.workers = 2, .dump_signal = SIGUSR2, .deadlock = FILCH_DEADLOCK_OFF};
    const filch_fiber_attr attr = {.name = "signalled"};

    (void)arg;
    if (filch_start(&c) < 0 || filch_go_attr(&attr, wait_at, &never) < 0)
        _exit(3);
    while (!(fi_load_relaxed(&fi_watchdog_global_state) & FI_WATCHDOG_ASLEEP))
        fi_thread_yield();
    raise(SIGUSR2);
    filch_stop();
}

static void a_late_signal_brings_it(void **state)
{
    (void)state;
    CHECK(says_and_lives(with_late_signal, NULL, "waits for place"));
}

static void mine(int number)
{
    (void)number;
}

static void the_signal_is_given_back(void **state)
{
    filch_config c = {.workers = 2, .dump_signal = SIGUSR2};
    struct sigaction now;

    (void)state;
    signal(SIGUSR2, mine);
    CHECK_INT(filch_start(&c), 0);
    CHECK_INT(sigaction(SIGUSR2, NULL, &now), 0);
    CHECK(now.sa_handler != mine);
    CHECK_INT(filch_stop(), 0);
    CHECK_INT(sigaction(SIGUSR2, NULL, &now), 0);
    CHECK(now.sa_handler == mine);
}

CHECK_MAIN(a_signal_brings_it, a_late_signal_brings_it, without_a_runtime, test_one_fiber_in_full,
           test_who_calls_is_in_it, test_equals_are_one_paragraph, test_a_storm_goes_on,
           test_talkers_are_where_they_were, what_has_not_begun_is_nowhere,
           the_signal_is_given_back)
