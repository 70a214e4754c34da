/* cluster-sim: simulate the protocol of filch-mpi.  `filch cluster sim` runs this program. */
#include "args.h"
#include "sim/format.h"
#include "sim/options.h"
#include "sim/table.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

static void number_print(const char *name, uint64_t value)
{
    char text[FI_GROUPED_SIZE];

    printf("%-20s %14s\n", name, fi_format_grouped(value, text));
}

static void report_print(const fi_sim_report *report, const fi_sim_settings *set)
{
    printf("%-20s %14" PRIu64 "\n", "seed", set->seed);
    number_print("ranks", set->ranks);
    number_print("runs", set->runs);
    number_print("items", report->items);
    printf("%-20s %11.3f ms\n", "time", (double)report->ns / 1e6);
    printf("%-20s %12.1f %%\n", "efficiency", 100 * report->efficiency);
    number_print("messages", report->messages);
    number_print("bytes", report->bytes);
    number_print("random questions", report->asks);
    number_print("lifeline questions", report->lifes);
    number_print("refusals", report->refusals);
    number_print("loots as answers", report->loots);
    number_print("loots over lifelines", report->gifts);
    number_print("waves", report->waves);
    number_print("events", report->events);
    printf("%-20s %14" PRIx64 "\n", "hash of the events", report->hash);
}

/* Returns the exit code. */
static int one_run(fi_sim_options *o)
{
    fi_sim_report report;

    o->set.tree = fi_named_tree_make(o->tree);
    o->set.progress = fi_progress_show;
    fi_sim_run(&o->set, &report);
    fi_progress_clear();
    if (report.error[0] != '\0') {
        fprintf(stderr, "filch: cluster sim: %s (seed %" PRIu64 ")\n", report.error, o->set.seed);
        return EXIT_FAILED;
    }
    report_print(&report, &o->set);
    if (!report.is_failed)
        return EXIT_OK;
    printf("%-20s rank %u finds rank %u dead\n", "failure", report.failed_by, report.failed_rank);
    return EXIT_FAILED;
}

int main(int argc, char **argv)
{
    fi_sim_options o = fi_sim_options_parse(argc, argv);
    int code;

    if (o.is_one)
        code = one_run(&o);
    else
        code = fi_table_print(o.is_quick) ? EXIT_OK : EXIT_FAILED;
    return flush_output() ? code : EXIT_FAILED;
}
