/* filch lab: measure, compare and report. */
#define _GNU_SOURCE
#include "lab.h"

#include "args.h"
#include "command.h"
#include "csv.h"
#include "options.h"
#include "report.h"
#include "runner.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- the folder ---- */

static int make_folder(const char *path)
{
    if (mkdir(path, 0777) == 0 || errno == EEXIST)
        return 0;
    fprintf(stderr, "filch: %s: %s\n", path, strerror(errno));
    return -1;
}

static int make_folders(const char *out)
{
    char raw[PATH_MAX];
    if (snprintf(raw, sizeof raw, "%s/raw", out) >= (int)sizeof raw)
        usage_error("--out: the name of the directory is too long");
    return make_folder(out) == 0 && make_folder(raw) == 0 ? 0 : -1;
}

/* ---- output ---- */

static void print_page(const lab_run *run, const report_page *page)
{
    printf("%s\n\n", run->of->title);
    report_page_print(page, stdout);
    if (run->plan->left_out[0] != '\0')
        printf("\nLeft out:\n%s", run->plan->left_out);
}

static void print_summary(const lab_run *run, const report_page *page)
{
    const char *text;
    lab_verdict v = report_page_verdict_of(page, &text);
    printf("%-14s %-12s %s\n", run->of->name, lab_verdict_names[v], report_page_summary_of(page));
}

static int print_results(const lab_run *run, bool in_full)
{
    report_page *page = report_page_new(run->of->name);
    if (page)
        run->of->describe(run->journal.results, page);
    bool is_whole = page && !page->truncated;
    if (is_whole && in_full)
        print_page(run, page);
    else if (is_whole)
        print_summary(run, page);
    else
        fprintf(stderr, "filch: %s: out of memory for the results\n", run->of->name);
    report_page_free(page);
    return is_whole ? EXIT_OK : EXIT_FAILED;
}

static int write_report(const char *out)
{
    const char *undrawn, *why = report_write(out, &undrawn);
    if (undrawn)
        fprintf(stderr,
                "filch: lab: report without charts: %s; 'filch lab report --out %s' adds them\n",
                undrawn, out);
    if (why) {
        fprintf(stderr, "filch: no report: %s\n", why);
        return EXIT_FAILED;
    }
    printf("report: %s/report.html\n", out);
    return EXIT_OK;
}

/* ---- the command ---- */

static int open_runs(const lab_chosen *chosen, lab_run *runs, int *n)
{
    for (*n = 0; chosen->experiments[*n]; ++*n) {
        const char *why = lab_run_open(&runs[*n], chosen->experiments[*n], &chosen->options);
        if (why) {
            fprintf(stderr, "filch: %s\n", why);
            lab_run_close(&runs[*n]);
            return EXIT_FAILED;
        }
    }
    return EXIT_OK;
}

static int measure_and_print(const lab_chosen *chosen, lab_run *runs, int n)
{
    const lab_options *o = &chosen->options;
    bool failed = false;
    int end = runner_run_all(runs, n, o, &failed);
    if (end != EXIT_OK)
        return end;
    for (int i = 0; i < n; i++) {
        failed |= runs[i].plan->count == 0; /* programs are missing, as reported */
        end |= print_results(&runs[i], !chosen->all);
    }
    if (o->out) {
        printf("\n");
        end |= write_report(o->out);
    }
    return end == EXIT_OK && failed ? EXIT_FAILED : end;
}

int command_lab(int argc, char **argv)
{
    static lab_run runs[LAB_EXPERIMENTS_MAX];
    int n = 0;
    if (argc > 1 && strcmp(argv[1], "csv") == 0)
        return lab_csv(argc - 1, argv + 1);
    lab_chosen chosen = lab_options_read(argc, argv);
    if (chosen.report)
        return write_report(chosen.options.out);
    if (chosen.options.out && make_folders(chosen.options.out) < 0)
        return EXIT_FAILED;
    int end = open_runs(&chosen, runs, &n);
    if (end == EXIT_OK)
        end = measure_and_print(&chosen, runs, n);
    for (int i = 0; i < n; i++)
        lab_run_close(&runs[i]);
    return end;
}
