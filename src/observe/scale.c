/* FILCH_SCALE: write work and span of a run to a file, as one line of JSON. */
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
} scale;

static int scale_begin(fi_runtime *rt)
{
    const fi_observe_settings *s = &rt->settings.observe;
    int e;

    scale.on = false;
    if (!s->scale || fi_output_init(&scale.output, "FILCH_SCALE", s->scale) < 0 ||
        fi_output_check(&scale.output) < 0)
        return 0;
    e = fi_span_start(fi_clock_ns_to_ticks(s->burden_ns));
    if (e < 0) {
        fi_output_error("FILCH_SCALE", s->scale, e);
        return 0;
    }
    scale.on = true;
    scale.began_ns = fi_clock_now();
    for (unsigned i = 0; i < rt->n_workers; i++)
        fi_worker_add_hook(&rt->workers[i], FI_HOOK_SPAN);
    return 0;
}

static int write_line(const fi_runtime *rt, int fd)
{
    char line[LINE_MAX_BYTES];
    fi_span_sums s;
    int n;

    fi_span_read(&s);
    n = snprintf(
        line, sizeof line,
        "{\"work_ns\":%" PRId64 ",\"span_ns\":%" PRId64 ",\"burdened_span_ns\":%" PRId64
        ",\"burden_ns\":%" PRId64 ",\"spawns\":%" PRIu64 ",\"pieces\":%" PRIu64
        ",\"clock_reads\":%" PRIu64 ",\"clock_read_ns\":%" PRId64 ",\"elapsed_ns\":%" PRId64 "}\n",
        fi_clock_ticks_to_ns(s.work_ticks), fi_clock_ticks_to_ns(s.span_ticks),
        fi_clock_ticks_to_ns(s.burdened_ticks), rt->settings.observe.burden_ns, s.spawns, s.pieces,
        s.clock_reads, fi_clock_ticks_to_ns(s.clock_read_ticks), fi_clock_now() - scale.began_ns);
    return fi_output_append(fd, line, (size_t)n);
}

/* If several processes write the file, for example after a fork(), the last one wins. */
static void scale_finish(const fi_runtime *rt, bool has_run)
{
    int fd = has_run ? fi_output_open(&scale.output) : -1;

    if (fd >= 0)
        fi_output_close(&scale.output, write_line(rt, fd));
    scale.on = false;
}

static void scale_end(fi_runtime *rt, bool has_run)
{
    if (!scale.on)
        return;
    scale_finish(rt, has_run);
    fi_span_stop();
}

/* The workers still run, so the span table stays in use. */
static void scale_incident(fi_runtime *rt, fi_incident incident)
{
    if (scale.on && incident == FI_INCIDENT_EXIT)
        scale_finish(rt, true);
}

const fi_observer fi_observe_scale = {
    .begin = scale_begin, .end = scale_end, .incident = scale_incident};
