/* Resolves the settings of a runtime from its configuration, the environment and the defaults. */
#include "sched/config.h"

#include "base/cpu_count.h"
#include "base/message.h"
#include "base/option.h"
#include "sched/search_time.h"

#include <filch/runtime.h>

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define STACK_MIN                ((size_t)16 << 10)
#define STACK_MAX                ((size_t)1 << 30)
#define STACK_DEFAULT            ((size_t)256 << 10)
#define SEARCH_NS_MAX            1000000000
#define SEARCH_NS_DEFAULT        20000
#define BATCH_DEFAULT            16
#define WATCHDOG_MS_DEFAULT      10
#define WATCHDOG_MS_MAX          3600000
#define BLOCKING_THREADS_MAX     16384
#define BLOCKING_THREADS_DEFAULT 64
#define TRACE_EVENTS_DEFAULT     ((uint64_t)1 << 16)
#define TRACE_EVENTS_MAX         ((uint64_t)1 << 26)
#define TRACE_MS_MAX             3600000
#define SAMPLE_NS_MAX            1000000000
#define BURDEN_NS_MAX            1000000000
#define BURDEN_NS_DEFAULT        3000
#define CPU_MAX                  1048575
#define NS_PER_MS                INT64_C(1000000)

unsigned filch_cpu_count(void)
{
    int n = fi_cpu_count("", fi_affinity_get_process);

    return n < 1 ? 1 : (unsigned)n;
}

static int resolve_workers(const filch_config *c, fi_settings *s)
{
    uint64_t n;
    int e = fi_option_number(&(fi_option){.variable = "FILCH_WORKERS",
                                          .field = "workers",
                                          .configured = c->workers,
                                          .min = 1,
                                          .max = FILCH_WORKERS_MAX},
                             &n);

    if (e < 0)
        return e;
    if (n == 0) /* the count reads files, so only if needed */
        n = filch_cpu_count();
    s->workers = n < FILCH_WORKERS_MAX ? (unsigned)n : FILCH_WORKERS_MAX;
    return 0;
}

static int resolve_stack(const filch_config *c, fi_settings *s)
{
    uint64_t n, page = (uint64_t)sysconf(_SC_PAGESIZE);
    int e = fi_option_number(&(fi_option){.variable = "FILCH_STACK_SIZE",
                                          .field = "stack_size",
                                          .configured = c->stack_size,
                                          .min = STACK_MIN,
                                          .max = STACK_MAX,
                                          .fallback = STACK_DEFAULT,
                                          .units = true},
                             &n);

    s->stack_size = (size_t)((n + page - 1) / page * page);
    return e;
}

/* The field is a constant of the type filch_<field>. */
static int constant_error(const char *field, int value)
{
    return fi_message_invalid("filch_config.%s: not a filch_%s (%d); use a constant of that type",
                              field, field, value);
}

static int resolve_choice(const char *field, int configured, const char *variable, const char *zero,
                          const char *one)
{
    if (configured < 0 || configured > 2)
        return constant_error(field, configured);
    return configured ? configured - 1 : fi_option_choice(variable, zero, one, 0);
}

static int resolve_choices(const filch_config *c, fi_settings *s)
{
    int affinity = resolve_choice("affinity", (int)c->affinity, "FILCH_AFFINITY", "none", "cpu");
    int no_caller_runs =
        resolve_choice("caller_runs", (int)c->caller_runs, "FILCH_CALLER_RUNS", "yes", "no");

    s->affinity = affinity == 1;
    s->caller_runs = no_caller_runs == 0 && !s->affinity;
    return affinity < 0 || no_caller_runs < 0 ? -EINVAL : 0;
}

/* A negative value, or 0 in the environment, turns the watchdog off. */
static int resolve_watchdog(const filch_config *c, fi_settings *s)
{
    uint64_t ms = WATCHDOG_MS_DEFAULT;
    int e = 0;

    if (c->watchdog_ns > WATCHDOG_MS_MAX * NS_PER_MS)
        return fi_message_invalid(
            "filch_config.watchdog_ns: more than an hour (%lld); use up to %lld",
            (long long)c->watchdog_ns, (long long)(WATCHDOG_MS_MAX * NS_PER_MS));
    if (c->watchdog_ns == 0)
        e = fi_option_number(&(fi_option){.variable = "FILCH_WATCHDOG_MS",
                                          .field = "watchdog_ns",
                                          .max = WATCHDOG_MS_MAX,
                                          .fallback = WATCHDOG_MS_DEFAULT},
                             &ms);
    s->watchdog_ns = c->watchdog_ns ? c->watchdog_ns : (int64_t)ms * NS_PER_MS;
    if (s->watchdog_ns < 0)
        s->watchdog_ns = 0;
    return e;
}

static int resolve_deadlock(const filch_config *c, fi_settings *s)
{
    static const char *const names[] = {"abort", "report", "off"};
    const char *text = c->deadlock ? NULL : fi_option_env("FILCH_DEADLOCK");

    if (c->deadlock > FILCH_DEADLOCK_OFF)
        return constant_error("deadlock", (int)c->deadlock);
    s->deadlock = c->deadlock ? c->deadlock : FILCH_DEADLOCK_REPORT;
    if (!text)
        return 0;
    for (int i = 0; i < 3; i++)
        if (strcmp(text, names[i]) == 0) {
            s->deadlock = (filch_deadlock)(i + 1);
            return 0;
        }
    return fi_option_reject("FILCH_DEADLOCK: unknown value ('%s'); use abort, report or off", text);
}

static int signal_of(const char *text)
{
    static const struct {
        const char *name;
        int signal;
    } names[] = {{"HUP", SIGHUP},   {"QUIT", SIGQUIT}, {"USR1", SIGUSR1},
                 {"USR2", SIGUSR2}, {"PWR", SIGPWR},   {"WINCH", SIGWINCH}};
    uint64_t n;

    if (fi_option_parse(text, false, &n))
        return n <= (uint64_t)SIGRTMAX ? (int)n : -1;
    if (strncmp(text, "SIG", 3) == 0)
        text += 3;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(text, names[i].name) == 0)
            return names[i].signal;
    return -1;
}

/* Signals that report faults, and signals that cannot be caught or that the C library keeps for
 * itself, are not allowed. */
static bool may_dump_on(int n)
{
    struct sigaction now;

    return sigaction(n, NULL, &now) == 0 && n > 0 && n <= SIGRTMAX && n != SIGKILL &&
           n != SIGSTOP && n != SIGSEGV && n != SIGBUS && n != SIGILL && n != SIGFPE &&
           n != SIGABRT;
}

static int resolve_signal(const filch_config *c, fi_settings *s)
{
    const char *text = c->dump_signal ? NULL : fi_option_env("FILCH_DUMP_SIGNAL");

    s->dump_signal = text ? signal_of(text) : c->dump_signal;
    if (s->dump_signal == 0 || may_dump_on(s->dump_signal))
        return 0;
    s->dump_signal = 0;
    return text
               ? fi_option_reject("FILCH_DUMP_SIGNAL: not a signal that can be used ('%s'); "
                                  "use a signal such as QUIT or USR1",
                                  text)
               : fi_message_invalid("filch_config.dump_signal: not a signal that can be used (%d); "
                                    "use a signal such as SIGQUIT or SIGUSR1",
                                    c->dump_signal);
}

static int resolve_blocking_threads(const filch_config *c, fi_settings *s)
{
    uint64_t n;
    int e = fi_option_number(&(fi_option){.variable = "FILCH_BLOCKING_THREADS",
                                          .field = "blocking_threads",
                                          .configured = c->blocking_threads,
                                          .min = 1,
                                          .max = BLOCKING_THREADS_MAX,
                                          .fallback = BLOCKING_THREADS_DEFAULT},
                             &n);

    s->blocking_threads = (unsigned)n;
    return e;
}

static int resolve_name(const filch_config *c, fi_settings *s)
{
    const char *name = c->name ? c->name : fi_option_env("FILCH_NAME");
    size_t max = sizeof s->name - 1;
    int e = 0;

    if (name && strlen(name) > max) {
        e = c->name
                ? fi_message_invalid("filch_config.name: too long ('%s'); use up to %zu bytes",
                                     name, max)
                : fi_option_reject("FILCH_NAME: too long ('%s'); use up to %zu bytes", name, max);
        name = NULL;
    }
    snprintf(s->name, sizeof s->name, "%s", name ? name : "filch");
    return e;
}

/* ---- observability ---- */

/* True in the configuration, or otherwise the variable. */
static int resolve_switch(bool configured, const char *variable, bool *out)
{
    int yes = configured ? 1 : fi_option_choice(variable, "0", "1", 0);

    *out = yes == 1;
    return yes < 0 ? yes : 0;
}

static uint32_t power_of_two_from(uint64_t n)
{
    uint32_t p = 1;

    while (p < n)
        p <<= 1;
    return p;
}

static int resolve_trace(const filch_config *c, fi_observe_settings *s)
{
    uint64_t ms = 0, events = 0;
    int e = 0;

    s->trace = c->trace ? c->trace : fi_option_env("FILCH_TRACE");
    if (c->trace_ns < 0 || c->trace_ns > TRACE_MS_MAX * NS_PER_MS)
        return fi_message_invalid(
            "filch_config.trace_ns: not from 0 to an hour (%lld); use up to %lld",
            (long long)c->trace_ns, (long long)(TRACE_MS_MAX * NS_PER_MS));
    if (c->trace_ns == 0)
        e = fi_option_number(&(fi_option){.variable = "FILCH_TRACE_MS", .max = TRACE_MS_MAX}, &ms);
    s->trace_ns = c->trace_ns ? c->trace_ns : (int64_t)ms * NS_PER_MS;
    if (e == 0)
        e = fi_option_number(&(fi_option){.variable = "FILCH_TRACE_EVENTS",
                                          .min = 16,
                                          .max = TRACE_EVENTS_MAX,
                                          .fallback = TRACE_EVENTS_DEFAULT,
                                          .units = true},
                             &events);
    s->trace_events = e == 0 ? power_of_two_from(events) : 0;
    return e;
}

static int resolve_sample(fi_observe_settings *s)
{
    uint64_t cpu, ns;
    int e;

    s->sample = fi_option_env("FILCH_SAMPLE");
    e = fi_option_number(
        &(fi_option){.variable = "FILCH_SAMPLE_CPU", .max = CPU_MAX, .fallback = UINT64_MAX}, &cpu);
    s->sample_cpu = cpu == UINT64_MAX ? -1 : (int)cpu;
    if (e == 0)
        e = fi_option_number(&(fi_option){.variable = "FILCH_SAMPLE_NS", .max = SAMPLE_NS_MAX},
                             &ns);
    s->sample_ns = e == 0 ? (int64_t)ns : 0;
    return e;
}

/* The span is measured on one worker, so that other workers do not disturb it. */
static int resolve_scale(fi_settings *out)
{
    uint64_t ns;
    int e = fi_option_number(&(fi_option){.variable = "FILCH_SCALE_BURDEN_NS",
                                          .max = BURDEN_NS_MAX,
                                          .fallback = BURDEN_NS_DEFAULT},
                             &ns);

    out->observe.scale = fi_option_env("FILCH_SCALE");
    out->observe.burden_ns = e == 0 ? (int64_t)ns : 0;
    if (out->observe.scale)
        out->workers = 1;
    return e;
}

static int resolve_observe(const filch_config *config, fi_settings *out)
{
    fi_observe_settings *s = &out->observe;
    int e = resolve_switch(config->stats, "FILCH_STATS", &s->stats);

    if (e == 0)
        e = resolve_trace(config, s);
    if (e == 0)
        e = resolve_sample(s);
    if (e == 0)
        e = resolve_scale(out);
    return e;
}

/* ---- lab settings: variables without a field, for filch lab and filch bench run ---- */

static int resolve_search(fi_settings *s)
{
    unsigned cpus = filch_cpu_count();
    uint64_t n;
    int e = fi_option_number(&(fi_option){.variable = "FILCH_SEARCH_NS",
                                          .max = SEARCH_NS_MAX,
                                          .fallback = SEARCH_NS_DEFAULT},
                             &n);

    s->search_ns = (int64_t)n;
    s->search_max_ns = s->search_ns;
    if (n > 0 && n < FI_SEARCH_NS_MAX && cpus > 1 && s->workers <= cpus)
        s->search_max_ns = FI_SEARCH_NS_MAX;
    return e;
}

static int resolve_deque(fi_settings *s)
{
    const char *name = fi_option_env("FILCH_DEQUE");
    const fi_deque_ops *deque = name ? fi_deque_kind_named(name) : &fi_deque_batch;

    s->deque = deque && !deque->fifo ? deque : &fi_deque_batch;
    if (s->deque == deque)
        return 0;
    return fi_option_reject("FILCH_DEQUE: %s ('%s'); use locked, bounded or batch",
                            deque ? "the owner of this deque pops the oldest task, not the newest"
                                  : "unknown deque",
                            name);
}

static int resolve_batch(fi_settings *s)
{
    bool single = s->deque == &fi_deque_bounded;
    uint64_t n;
    int e = fi_option_number(&(fi_option){.variable = "FILCH_STEAL_BATCH",
                                          .min = 1,
                                          .max = FI_DEQUE_MAX_BATCH,
                                          .fallback = single ? 1 : BATCH_DEFAULT},
                             &n);

    s->steal_batch = single ? 1 : (uint32_t)n;
    if (e == 0 && single && n > 1)
        e = fi_option_reject(
            "FILCH_STEAL_BATCH: the deque 'bounded' supports only 1 (%llu); use 1 or another deque",
            (unsigned long long)n);
    return e;
}

static int resolve_publish(fi_settings *s)
{
    int eager = fi_option_choice("FILCH_PUBLISH", "lazy", "eager", 0);

    s->eager = eager == 1;
    return eager < 0 ? eager : 0;
}

/* Only its own value is checked here.  base/option.c uses it. */
static int resolve_strict(const filch_config *config, fi_settings *out)
{
    (void)config, (void)out;
    return fi_option_choice("FILCH_STRICT", "0", "1", 0) < 0 ? -EINVAL : 0;
}

static int resolve_lab(const filch_config *config, fi_settings *out)
{
    int e = resolve_search(out);

    (void)config;
    if (e == 0)
        e = resolve_deque(out);
    if (e == 0)
        e = resolve_batch(out);
    if (e == 0)
        e = resolve_publish(out);
    return e;
}

static int resolve_worker_hooks(const filch_config *c, fi_settings *s)
{
    s->on_worker_start = c->on_worker_start;
    s->on_worker_stop = c->on_worker_stop;
    s->worker_ctx = c->worker_ctx;
    return 0;
}

int fi_config_resolve(const filch_config *config, fi_settings *out)
{
    static int (*const steps[])(const filch_config *, fi_settings *) = {
        resolve_strict,           resolve_workers, resolve_stack,    resolve_choices,
        resolve_blocking_threads, resolve_name,    resolve_watchdog, resolve_deadlock,
        resolve_signal,           resolve_observe, resolve_lab,      resolve_worker_hooks,
    };
    const filch_config none = {0};

    if (!config)
        config = &none;
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        int e = steps[i](config, out);
        if (e < 0)
            return e;
    }
    return 0;
}
