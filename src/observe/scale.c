/* FILCH_SCALE: work and span of a run, as a line of JSON in a file. */
#include "base/clock.h"
#include "observe/observe.h"
#include "observe/output.h"
#include "sched/span.h"
#include "sched/worker.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>

#define LINE_MAX_BYTES 512

/* State of the one runtime. */
static struct {
    bool on;
    fi_output output;
    int64_t began_ns;
} now;

static int begin(fi_runtime *rt)
{
    const fi_observe_settings *s = &rt->settings.observe;

    now.on = false;
    if (!s->scale || fi_output_init(&now.output, "FILCH_SCALE", s->scale) < 0 ||
        fi_output_check(&now.output) < 0)
        return 0;
    now.on = true;
    now.began_ns = fi_clock_now();
    fi_span_begin(fi_clock_ns_to_ticks(s->burden_ns));
    for (unsigned i = 0; i < rt->n_workers; i++)
        rt->workers[i].hook_mask |= FI_HOOK_SPAN;
    return 0;
}

static int write_line(void *runtime, int fd)
{
    const fi_runtime *rt = runtime;
    char line[LINE_MAX_BYTES];
    fi_span_sums s;
    int n;

    fi_span_read(&s);
    n = snprintf(line, sizeof line,
                 "{\"work_ns\":%" PRId64 ",\"span_ns\":%" PRId64 ",\"burdened_span_ns\":%" PRId64
                 ",\"burden_ns\":%" PRId64 ",\"spawns\":%" PRIu64 ",\"pieces\":%" PRIu64
                 ",\"looks\":%" PRIu64 ",\"look_ns\":%" PRId64 ",\"elapsed_ns\":%" PRId64 "}\n",
                 fi_clock_ticks_to_ns(s.work_ticks), fi_clock_ticks_to_ns(s.span_ticks),
                 fi_clock_ticks_to_ns(s.burdened_ticks), rt->settings.observe.burden_ns, s.spawns,
                 s.pieces, s.looks, fi_clock_ticks_to_ns(s.look_ticks),
                 fi_clock_now() - now.began_ns);
    return fi_output_put(fd, line, (size_t)n);
}

/* Another process may have written the file meanwhile, for example after a fork().  The last one
 * counts. */
static void finish(fi_runtime *rt, bool has_run)
{
    if (has_run)
        fi_output_write(&now.output, write_line, rt);
    now.on = false;
}

static void end(fi_runtime *rt, bool has_run)
{
    if (!now.on)
        return;
    finish(rt, has_run);
    fi_span_end();
}

/* Workers still run, and the book stays open. */
static void at_alarm(fi_runtime *rt, fi_incident why)
{
    if (now.on && why == FI_INCIDENT_EXIT)
        finish(rt, true);
}

const fi_hooks fi_observe_scale = {.begin = begin, .end = end, .incident = at_alarm};
