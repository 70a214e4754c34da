/* Misuse of tasks aborts the program with a line that names the mistake. */
#define FILCH_CHECK_TASKS
#include "child.h"
#include "unit/task/helpers.h"

#include <signal.h>

FILCH_TASK(int, apple, int, n)
{
    return n;
}
FILCH_TASK(int, pear, int, n)
{
    return n;
}
FILCH_TASK(int, syncs_another, int, n)
{
    FILCH_SPAWN(apple, n);
    return FILCH_SYNC(pear);
}
FILCH_TASK(int, syncs_older, int, n)
{
    FILCH_SPAWN(apple, n);
    FILCH_SPAWN(pear, n);
    n = FILCH_SYNC(apple);
    return n + FILCH_SYNC(pear);
}
FILCH_TASK(int, syncs_nothing, int, n)
{
    (void)n;
    return FILCH_SYNC(apple);
}
FILCH_TASK(int, syncs_twice, int, n)
{
    FILCH_SPAWN(apple, n);
    n = FILCH_SYNC(apple);
    return n + FILCH_SYNC(apple);
}
/* A task may not sync a spawn of its caller. */
FILCH_TASK(int, calls_one_that_syncs, int, n)
{
    FILCH_SPAWN(apple, n);
    n = FILCH_CALL(syncs_nothing, n);
    return n + FILCH_SYNC(apple);
}
FILCH_TASK(int, forgets, int, n)
{
    FILCH_SPAWN(apple, n);
    FILCH_SPAWN(apple, n);
    return FILCH_SYNC(apple);
}
FILCH_TASK(int, calls_forgetful, int, n)
{
    return FILCH_CALL(forgets, n);
}
FILCH_TASK(int, spawns_forgetful, int, n)
{
    FILCH_SPAWN(forgets, n);
    return FILCH_SYNC(forgets);
}
FILCH_TASK(int, runs_forgetful, int, n)
{
    FILCH_SPAWN(apple, n);
    n = FILCH_RUN(forgets, n);
    return n + FILCH_SYNC(apple);
}

/* Correct use. */
FILCH_TASK(int, correct, int, n)
{
    int a;

    if (n < 2)
        return n;
    FILCH_SPAWN(correct, n - 1);
    FILCH_SPAWN(apple, n);
    a = FILCH_RUN(correct, n - 2);
    FILCH_SYNC(apple);
    return a + FILCH_SYNC(correct);
}

typedef struct mistake {
    unsigned workers;
    const char *publish;
    int (*run_mistake)(void);
} mistake;

static void run_mistake(void *arg)
{
    const mistake *m = arg;
    filch_config c = {.workers = m->workers, .name = "orchard"};

    set_lab_settings((lab_settings){.publish = m->publish});
    if (filch_start(&c) == 0)
        m->run_mistake();
}

static void check_death(int (*fn)(void), int signal, const char *line)
{
    for (size_t i = 0; i < sizeof workers_counts / sizeof *workers_counts; i++)
        for (int eager = 0; eager < 2; eager++) {
            mistake m = {workers_counts[i], eager ? "eager" : "lazy", fn};
            struct child_end end;

            CHECK_INT(child_end_of(&end, run_mistake, &m), 0);
            if (!strstr(end.text, line))
                fprintf(stderr, "said: %s\n", end.text);
            CHECK(strstr(end.text, line) != NULL);
            CHECK(WIFSIGNALED(end.status) && WTERMSIG(end.status) == signal);
        }
}

#define MISTAKE(name)                                                                              \
    static int make_##name(void)                                                                   \
    {                                                                                              \
        return FILCH_RUN(name, 1);                                                                 \
    }
MISTAKE(syncs_another)
MISTAKE(syncs_older)
MISTAKE(syncs_nothing)
MISTAKE(syncs_twice)
MISTAKE(calls_one_that_syncs)
MISTAKE(forgets)
MISTAKE(calls_forgetful)
MISTAKE(spawns_forgetful)
MISTAKE(runs_forgetful)

static void wrong_syncs(void **state)
{
    (void)state;
    check_death(make_syncs_another, SIGABRT,
                "filch: FILCH_SYNC(pear): the newest FILCH_SPAWN is of apple\n");
    check_death(make_syncs_older, SIGABRT,
                "filch: FILCH_SYNC(apple): the newest FILCH_SPAWN is of pear\n");
}

static void syncs_without_spawn(void **state)
{
    (void)state;
    check_death(make_syncs_nothing, SIGABRT,
                "filch: FILCH_SYNC(apple): there is no open FILCH_SPAWN\n");
    check_death(make_syncs_twice, SIGABRT,
                "filch: FILCH_SYNC(apple): there is no open FILCH_SPAWN\n");
    /* If the spawn is public already, this is detected when the body returns. */
    check_death(make_calls_one_that_syncs, SIGABRT, "FILCH_SPAWN");
}

static void spawns_left_open(void **state)
{
    const char *line =
        "filch: task forgets: returned without a FILCH_SYNC for each FILCH_SPAWN (1 missing)\n";

    (void)state;
    check_death(make_forgets, SIGABRT, line);
    check_death(make_calls_forgetful, SIGABRT, line);
    check_death(make_spawns_forgetful, SIGABRT, line);
    check_death(make_runs_forgetful, SIGABRT, line);
}

#ifdef FILCH_SERIAL
SKIP_IN_SERIAL(overflow, "fibers")
#else
static int (*volatile use)(char *);

static int first_byte(char *bytes)
{
    return bytes[0];
}
FILCH_TASK(int, endless, int, n)
{
    char frame[512];

    memset(frame, n, sizeof frame);
    return FILCH_CALL(endless, n + 1) + use(frame);
}

MISTAKE(endless)

static void overflow(void **state)
{
    (void)state;
    if (FI_UNDER_ASAN || FI_UNDER_TSAN) {
        puts("skipped: a sanitizer reports the overflow itself, without the fiber's name");
        return;
    }
    use = first_byte;
    check_death(make_endless, SIGSEGV, "filch: stack overflow in fiber \"orchard");
}
#endif

static void run_correct(void)
{
    CHECK_INT(FILCH_RUN(correct, 14), 377);
}

static void correct_use_prints_nothing(void **state)
{
    (void)state;
    workers_each(NULL, run_correct);
    workers_each_with((lab_settings){.publish = "eager"}, NULL, run_correct);
}

CHECK_MAIN(wrong_syncs, syncs_without_spawn, spawns_left_open, overflow, correct_use_prints_nothing)
