/* FILCH_STATS: print a table of counters when the runtime stops.  It is one write(), so that it
 * does not mix with other output. */
#include "base/clock.h"
#include "base/message.h"
#include "observe/observe.h"
#include "observe/stats.h"
#include "sched/runtime.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define COLUMNS_MAX 8 /* max, of workers in a line */

static int64_t began_ns; /* of the one runtime */

static int stats_begin(fi_runtime *rt)
{
    (void)rt;
    began_ns = fi_clock_now();
    return 0;
}

static void write_head(FILE *out, unsigned workers, unsigned shown)
{
    fprintf(out, "filch: counters of %u worker%s, %.3f s\n%-28s %14s", workers,
            workers == 1 ? "" : "s", (double)(fi_clock_now() - began_ns) * 1e-9, "", "all");
    for (unsigned w = 0; w < shown; w++)
        fprintf(out, " %9s %-3u", "worker", w);
    fprintf(out, "\n");
}

static void write_rows(FILE *out, const filch_counters *total, const filch_counters *each,
                       unsigned shown)
{
    const char *name;

    for (unsigned i = 0; (name = filch_counter_name(i)) != NULL; i++) {
        fprintf(out, "%-28s %14" PRIu64, name, filch_counter_value(total, i));
        for (unsigned w = 0; w < shown; w++)
            fprintf(out, " %13" PRIu64, filch_counter_value(&each[w], i));
        fprintf(out, "\n");
    }
}

static void write_table(FILE *out, fi_runtime *rt)
{
    unsigned shown = rt->n_workers < COLUMNS_MAX ? rt->n_workers : COLUMNS_MAX;
    filch_counters each[COLUMNS_MAX];
    filch_stats all;

    fi_stats_total(rt, &all);
    for (unsigned w = 0; w < shown; w++)
        fi_stats_one(rt, w, &each[w]);
    write_head(out, rt->n_workers, shown);
    write_rows(out, &all.total, each, shown);
    if (shown < rt->n_workers)
        fprintf(out, "and %u more workers, included in the sums\n", rt->n_workers - shown);
}

static void print_table(fi_runtime *rt)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    if (!out)
        return;
    write_table(out, rt);
    if (fclose(out) == 0)
        fi_message_lines(FILCH_LEVEL_INFO, text, size);
    free(text);
}

static void stats_end(fi_runtime *rt, bool has_run)
{
    if (has_run && rt->settings.observe.stats)
        print_table(rt);
}

bool filch_stats_at_stop_(bool prints)
{
    fi_runtime *rt = fi_runtime_lock_running();
    bool was_on = rt && rt->settings.observe.stats;

    if (was_on)
        rt->settings.observe.stats = prints;
    fi_runtime_unlock_running();
    return was_on;
}

static void stats_incident(fi_runtime *rt, fi_incident incident)
{
    if (incident == FI_INCIDENT_EXIT)
        stats_end(rt, true);
}

const fi_observer fi_observe_stats = {
    .begin = stats_begin, .end = stats_end, .incident = stats_incident};
