/* The configuration of a runtime: each field, each variable, and the message for each invalid
 * value. */
#include "check.h"
#include "child.h"

#include "sched/config.h"
#include "sched/search_time.h"

#include <errno.h>
#include <filch/filch.h>
#include <stdbool.h>

static const char *const variables[] = {
    "FILCH_WORKERS",
    "FILCH_AFFINITY",
    "FILCH_STACK_SIZE",
    "FILCH_DEQUE",
    "FILCH_STEAL_BATCH",
    "FILCH_PUBLISH",
    "FILCH_SEARCH_NS",
    "FILCH_CALLER_RUNS",
    "FILCH_NAME",
    "FILCH_WATCHDOG_MS",
    "FILCH_DEADLOCK",
    "FILCH_DUMP_SIGNAL",
    "FILCH_BLOCKING_THREADS",
    "FILCH_STRICT",
};

static void clear(void)
{
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        unsetenv(variables[i]);
}

static fi_settings resolve(filch_config c)
{
    fi_settings s = {0};

    CHECK_INT(fi_config_resolve(&c, &s), 0);
    return s;
}

static fi_settings with(const char *variable, const char *value)
{
    fi_settings s;

    clear();
    setenv(variable, value, 1);
    s = resolve((filch_config){0});
    clear();
    return s;
}

static void defaults(void **state)
{
    fi_settings s = {0};

    (void)state;
    clear();
    CHECK_INT(fi_config_resolve(NULL, &s), 0);
    CHECK_INT(s.workers, filch_cpu_count());
    CHECK(!s.affinity && !s.eager);
    CHECK_INT(s.stack_size, 256 << 10);
    CHECK(s.deque == &fi_deque_batch);
    CHECK_INT(s.steal_batch, 16);
    CHECK_INT(s.search_ns, 20000);
    CHECK_INT(s.search_max_ns, filch_cpu_count() > 1 ? FI_SEARCH_NS_MAX : 20000);
    CHECK_INT(s.blocking_threads, 64);
    CHECK_STR(s.name, "filch");
    CHECK_INT(s.watchdog_ns, 10000000);
    CHECK_INT(s.deadlock, FILCH_DEADLOCK_REPORT);
    CHECK_INT(s.dump_signal, 0);
}

static void fields(void **state)
{
    fi_settings s;

    (void)state;
    clear();
    s = resolve((filch_config){.workers = 3,
                               .affinity = FILCH_AFFINITY_CPU,
                               .stack_size = 20000,
                               .caller_runs = FILCH_CALLER_RUNS_YES,
                               .blocking_threads = 9,
                               .name = "ten-letter",
                               .watchdog_ns = 7,
                               .deadlock = FILCH_DEADLOCK_REPORT,
                               .dump_signal = SIGWINCH});
    CHECK_INT(s.workers, 3);
    CHECK(s.affinity && !s.caller_runs);
    CHECK_INT(s.stack_size % (size_t)sysconf(_SC_PAGESIZE), 0);
    CHECK(s.stack_size >= 20000 && s.stack_size < 20000 + (size_t)sysconf(_SC_PAGESIZE));
    CHECK_INT(s.blocking_threads, 9);
    CHECK_STR(s.name, "ten-letter");
    CHECK_INT(s.watchdog_ns, 7);
    CHECK_INT(s.deadlock, FILCH_DEADLOCK_REPORT);
    CHECK_INT(s.dump_signal, SIGWINCH);
    CHECK_INT(resolve((filch_config){.watchdog_ns = -1}).watchdog_ns, 0);
    CHECK_INT(resolve((filch_config){.workers = FILCH_WORKERS_MAX}).workers, FILCH_WORKERS_MAX);
}

static void environment(void **state)
{
    (void)state;
    CHECK_INT(with("FILCH_WORKERS", "5").workers, 5);
    CHECK_INT(with("FILCH_WORKERS", "1024").workers, 1024);
    CHECK_INT(with("FILCH_WORKERS", "").workers, filch_cpu_count());
    CHECK(with("FILCH_AFFINITY", "cpu").affinity);
    CHECK(!with("FILCH_AFFINITY", "none").affinity);
    CHECK_INT(with("FILCH_STACK_SIZE", "65536").stack_size, 65536);
    CHECK_INT(with("FILCH_STACK_SIZE", "16k").stack_size, 16384);
    CHECK_INT(with("FILCH_STACK_SIZE", "2M").stack_size, 2 << 20);
    CHECK_INT(with("FILCH_STACK_SIZE", "1g").stack_size, 1 << 30);
    CHECK(with("FILCH_DEQUE", "locked").deque == &fi_deque_locked);
    CHECK(with("FILCH_DEQUE", "bounded").deque == &fi_deque_bounded);
    CHECK(with("FILCH_DEQUE", "batch").deque == &fi_deque_batch);
    CHECK_INT(with("FILCH_DEQUE", "bounded").steal_batch, 1);
    CHECK_INT(with("FILCH_STEAL_BATCH", "7").steal_batch, 7);
    CHECK_INT(with("FILCH_STEAL_BATCH", "64").steal_batch, 64);
    CHECK(with("FILCH_PUBLISH", "eager").eager);
    CHECK(!with("FILCH_PUBLISH", "lazy").eager);
    CHECK(with("FILCH_CALLER_RUNS", "yes").caller_runs);
    CHECK(!with("FILCH_CALLER_RUNS", "no").caller_runs);
    CHECK_INT(with("FILCH_SEARCH_NS", "0").search_ns, 0);
    CHECK_INT(with("FILCH_SEARCH_NS", "0").search_max_ns, 0);
    CHECK_INT(with("FILCH_SEARCH_NS", "900000").search_max_ns, 900000);
    CHECK_INT(with("FILCH_WORKERS", "1024").search_max_ns, 20000);
    CHECK_INT(with("FILCH_SEARCH_NS", "1000000000").search_ns, 1000000000);
    CHECK_INT(with("FILCH_BLOCKING_THREADS", "1").blocking_threads, 1);
    CHECK_INT(with("FILCH_BLOCKING_THREADS", "16384").blocking_threads, 16384);
    CHECK_STR(with("FILCH_NAME", "a").name, "a");
    CHECK_INT(with("FILCH_WATCHDOG_MS", "25").watchdog_ns, 25000000);
    CHECK_INT(with("FILCH_WATCHDOG_MS", "0").watchdog_ns, 0);
    CHECK_INT(with("FILCH_DEADLOCK", "abort").deadlock, FILCH_DEADLOCK_ABORT);
    CHECK_INT(with("FILCH_DEADLOCK", "report").deadlock, FILCH_DEADLOCK_REPORT);
    CHECK_INT(with("FILCH_DEADLOCK", "off").deadlock, FILCH_DEADLOCK_OFF);
    CHECK_INT(with("FILCH_DUMP_SIGNAL", "QUIT").dump_signal, SIGQUIT);
    CHECK_INT(with("FILCH_DUMP_SIGNAL", "SIGUSR1").dump_signal, SIGUSR1);
    CHECK_INT(with("FILCH_DUMP_SIGNAL", "12").dump_signal, 12);
}

static void fields_override_variables(void **state)
{
    fi_settings s;

    (void)state;
    setenv("FILCH_WORKERS", "5", 1);
    setenv("FILCH_AFFINITY", "invalid, and not read", 1);
    setenv("FILCH_NAME", "too long for a name", 1);
    s = resolve((filch_config){.workers = 2, .affinity = FILCH_AFFINITY_CPU, .name = "mine"});
    CHECK_INT(s.workers, 2);
    CHECK(s.affinity);
    CHECK_STR(s.name, "mine");
    clear();
}

/* ---- invalid values ---- */

typedef struct bad {
    const char *variable, *value; /* or, without a variable, a config */
    filch_config config;
    const char *named; /* a part of the message */
} bad;

#define AS_WORD(var, val)                                                                          \
    {                                                                                              \
        .variable = (var), .value = (val), .named = (var)                                          \
    }
#define AS_FIELD(field, val)                                                                       \
    {                                                                                              \
        .config = {.field = (val)}, .named = #field                                                \
    }

static const bad invalid_values[] = {
    AS_WORD("FILCH_WORKERS", "0"),
    AS_WORD("FILCH_WORKERS", "1025"),
    AS_WORD("FILCH_WORKERS", "-1"),
    AS_WORD("FILCH_WORKERS", "two"),
    AS_WORD("FILCH_WORKERS", "2x"),
    AS_WORD("FILCH_WORKERS", "2k"),
    AS_WORD("FILCH_WORKERS", " 2"),
    AS_WORD("FILCH_WORKERS", "+2"),
    AS_WORD("FILCH_WORKERS", "99999999999999999999999"),
    AS_WORD("FILCH_AFFINITY", "yes"),
    AS_WORD("FILCH_AFFINITY", "CPU"),
    AS_WORD("FILCH_STACK_SIZE", "1"),
    AS_WORD("FILCH_STACK_SIZE", "15k"),
    AS_WORD("FILCH_STACK_SIZE", "2g"),
    AS_WORD("FILCH_STACK_SIZE", "16kb"),
    AS_WORD("FILCH_STACK_SIZE", "18446744073709551615g"),
    AS_WORD("FILCH_STACK_SIZE", "k"),
    AS_WORD("FILCH_DEQUE", "stack"),
    AS_WORD("FILCH_DEQUE", "Batch"),
    AS_WORD("FILCH_DEQUE", "half"),
    AS_WORD("FILCH_STEAL_BATCH", "0"),
    AS_WORD("FILCH_STEAL_BATCH", "65"),
    AS_WORD("FILCH_PUBLISH", "sometimes"),
    AS_WORD("FILCH_CALLER_RUNS", "maybe"),
    AS_WORD("FILCH_SEARCH_NS", "-1"),
    AS_WORD("FILCH_SEARCH_NS", "1000000001"),
    AS_WORD("FILCH_SEARCH_NS", "1us"),
    AS_WORD("FILCH_BLOCKING_THREADS", "0"),
    AS_WORD("FILCH_BLOCKING_THREADS", "16385"),
    AS_WORD("FILCH_NAME", "eleven-long"),
    AS_WORD("FILCH_WATCHDOG_MS", "-1"),
    AS_WORD("FILCH_WATCHDOG_MS", "3600001"),
    AS_WORD("FILCH_DEADLOCK", "yes"),
    AS_WORD("FILCH_DUMP_SIGNAL", "KILL"),
    AS_WORD("FILCH_DUMP_SIGNAL", "9"),
    AS_WORD("FILCH_DUMP_SIGNAL", "1000"),
    AS_WORD("FILCH_DUMP_SIGNAL", "quit"),
    AS_FIELD(workers, FILCH_WORKERS_MAX + 1),
    AS_FIELD(affinity, (filch_affinity)3),
    AS_FIELD(stack_size, 1),
    AS_FIELD(stack_size, ((size_t)1 << 30) + 1),
    AS_FIELD(caller_runs, (filch_caller_runs)3),
    AS_FIELD(blocking_threads, 16385),
    AS_FIELD(name, "eleven-long"),
    AS_FIELD(watchdog_ns, INT64_MAX),
    AS_FIELD(deadlock, (filch_deadlock)4),
    AS_FIELD(dump_signal, SIGSEGV),
    AS_FIELD(dump_signal, -1),
    AS_FIELD(dump_signal, 32), /* of the C library */
    AS_FIELD(dump_signal, 33),
};

static void set(const bad *b)
{
    clear();
    if (b->variable)
        setenv(b->variable, b->value, 1);
}

static void start_with(void *arg)
{
    const bad *b = arg;

    set(b);
    setenv("FILCH_STRICT", "1", 1);
    if (filch_start(&b->config) != -EINVAL || filch_worker_count() != 0)
        _exit(1);
    /* The failed start has changed nothing. */
    clear();
    if (filch_start(NULL) != 0 || filch_stop() != 0)
        _exit(2);
}

FILCH_VOID_TASK(nothing)
{
}

static void start_implicitly_with(void *arg)
{
    fi_settings s = {0}, expected = {0};

    clear();
    fi_config_resolve(NULL, &expected);
    set(arg);
    FILCH_RUN(nothing);
    if (filch_worker_count() != expected.workers || filch_stop() != 0)
        _exit(1);
    if (!freopen("/dev/null", "w", stderr))
        _exit(3);
    /* The padding of both was set to zero. */
    /* NOLINTNEXTLINE(bugprone-suspicious-memory-comparison) */
    if (fi_config_resolve(NULL, &s) != 0 || memcmp(&s, &expected, sizeof s) != 0)
        _exit(2);
}

/* One line: filch: <setting>: <what is wrong> (<value>); <what to do> */
static bool is_message_of(const char *setting, const char *text)
{
    const char *name = strstr(text, setting), *value = strstr(text, " (");

    return strncmp(text, "filch: ", 7) == 0 && strchr(text, '\n') == text + strlen(text) - 1 &&
           name && strncmp(name + strlen(setting), ": ", 2) == 0 && value &&
           strstr(value, "); use ");
}

static void invalid_values_are_named(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof invalid_values / sizeof *invalid_values; i++) {
        struct child_end end;
        bool ok;

        CHECK_INT(child_end_of(&end, start_with, (void *)(uintptr_t)&invalid_values[i]), 0);
        ok = is_message_of(invalid_values[i].named, end.text) && end.status == 0;
        if (!ok)
            fprintf(stderr, "%s, row %zu, status %d: %s\n", invalid_values[i].named, i, end.status,
                    end.text);
        CHECK(ok);
    }
}

/* The settings are those of an empty environment. */
static void an_invalid_variable_is_ignored(void **state)
{
    (void)state;
    for (size_t i = 0;
         i < sizeof invalid_values / sizeof *invalid_values && invalid_values[i].variable; i++) {
        struct child_end end;

        CHECK_INT(child_end_of(&end, start_implicitly_with, (void *)(uintptr_t)&invalid_values[i]),
                  0);
        CHECK(is_message_of(invalid_values[i].named, end.text));
        CHECK(strstr(end.text, "; the value is ignored\n") != NULL);
        CHECK_INT(end.status, 0);
    }
}

/* Two variables that exclude each other. */
static void start_both(void *arg)
{
    (void)arg;
    setenv("FILCH_DEQUE", "bounded", 1);
    setenv("FILCH_STEAL_BATCH", "4", 1);
    setenv("FILCH_STRICT", "1", 1);
    _exit(filch_start(NULL) == -EINVAL ? 0 : 1);
}

static void invalid_combinations(void **state)
{
    struct child_end end;

    (void)state;
    CHECK_INT(child_end_of(&end, start_both, NULL), 0);
    CHECK_INT(end.status, 0);
    CHECK(is_message_of("FILCH_STEAL_BATCH", end.text));
}

CHECK_MAIN(defaults, fields, environment, fields_override_variables, invalid_values_are_named,
           an_invalid_variable_is_ignored, invalid_combinations)
