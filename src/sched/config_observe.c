/* Wishes to see what goes on inside. */
#include "base/option.h"
#include "sched/config.h"

#include <errno.h>
#include <limits.h>

#define TRACE_EVENTS_DEFAULT ((uint64_t)1 << 16)
#define TRACE_EVENTS_MAX     ((uint64_t)1 << 26)
#define TRACE_MS_MAX         3600000
#define SAMPLE_NS_MAX        1000000000
#define BURDEN_NS_MAX        1000000000
#define BURDEN_NS_DEFAULT    3000
#define CPU_MAX              1048575
#define NS_PER_MS            INT64_C(1000000)

/* A wish of the caller, which is only yes or nothing; or a variable. */
static int resolve_switch(bool wish, const char *variable, bool *out)
{
    int yes = wish ? 1 : fi_option_choice(variable, "0", "1", 0);

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
        return fi_option_error("filch_config.trace_ns is %lld, which is not from 0 to an hour",
                               (long long)c->trace_ns);
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

/* Paths are followed on one worker: nobody is in the way of what is measured. */
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

int fi_config_resolve_observe(const filch_config *config, fi_settings *out)
{
    fi_observe_settings *s = &out->observe;
    int e = resolve_switch(config->stats, "FILCH_STATS", &s->stats);

    if (e == 0)
        e = resolve_switch(config->top, "FILCH_TOP", &s->top);
    if (e == 0)
        e = resolve_trace(config, s);
    if (e == 0)
        e = resolve_sample(s);
    if (e == 0)
        e = resolve_scale(out);
    return e;
}
