/* FILCH_SCALE: work and span of a run, as a line of JSON in a file. */
#include "base/clock.h"
#include "observe/observe.h"
#include "sched/path.h"
#include "sched/worker.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static FILE *file; /* of the one runtime that there is; NULL: nobody wants to know */
static int64_t began_ns;

static int begin(fi_runtime *rt)
{
    const fi_observe_settings *s = &rt->settings.observe;
    int e;

    if (!s->scale)
        return 0;
    file = fopen(s->scale, "we");
    if (!file) {
        e = errno;
        fprintf(stderr, "filch: FILCH_SCALE is '%s', which cannot be written: %s\n", s->scale,
                strerror(e));
        return -e;
    }
    began_ns = fi_clock_now();
    fi_path_begin(fi_clock_ns_to_ticks(s->burden_ns));
    for (unsigned i = 0; i < rt->workers_n; i++)
        rt->workers[i].eyes |= FI_EYE_PATH;
    return 0;
}

/* Another process may have written there meanwhile, as after a fork(): of two the last counts. */
static void write_line(fi_runtime *rt)
{
    fi_path_sums s;

    fi_path_read(&s);
    if (ftruncate(fileno(file), 0) < 0 && errno != EINVAL) /* a pipe need not be made empty */
        fprintf(stderr, "filch: what FILCH_SCALE asks for cannot be written: %s\n",
                strerror(errno));
    fprintf(file, "{\"work_ns\":%" PRId64 ",\"span_ns\":%" PRId64 ",\"burdened_span_ns\":%" PRId64,
            fi_clock_ticks_to_ns(s.work_ticks), fi_clock_ticks_to_ns(s.span_ticks),
            fi_clock_ticks_to_ns(s.burdened_ticks));
    fprintf(file, ",\"burden_ns\":%" PRId64 ",\"spawns\":%" PRIu64 ",\"pieces\":%" PRIu64,
            rt->settings.observe.burden_ns, s.spawns, s.pieces);
    fprintf(file, ",\"looks\":%" PRIu64 ",\"look_ns\":%" PRId64 ",\"elapsed_ns\":%" PRId64 "}\n",
            s.looks, fi_clock_ticks_to_ns(s.look_ticks), fi_clock_now() - began_ns);
}

static void finish(fi_runtime *rt, bool has_run)
{
    if (has_run)
        write_line(rt);
    if (fclose(file) != 0)
        fprintf(stderr, "filch: what FILCH_SCALE asks for cannot be written: %s\n",
                strerror(errno));
    file = NULL;
}

static void end(fi_runtime *rt, bool has_run)
{
    if (!file)
        return;
    finish(rt, has_run);
    fi_path_end();
}

/* Workers still run, and the book stays open. */
static void at_alarm(fi_runtime *rt, fi_alarm why)
{
    if (file && why == FI_ALARM_EXIT)
        finish(rt, true);
}

const fi_observer fi_observe_scale = {.begin = begin, .end = end, .alarm = at_alarm};
