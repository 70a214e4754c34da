/* filch lab jobs: the table of "Job System 2.0", part 3. */
#include "experiments.h"

#include <math.h>
#include <string.h>

enum { ROWS = 2, PUBLISHED = 3 }; /* the further columns are Filch */

static const double published[ROWS][PUBLISHED] = {{18.5, 9.9, 2.93}, {5.3, 1.35, 0.76}};
static const char *const titles[ROWS] = {"65,000 single jobs", "A loop of 16,383 jobs"};
static const char *const quick_titles[ROWS] = {"5,000 single jobs", "A loop of 2,047 jobs"};

static void jobs_plan(const lab_options *o, lab_plan *p)
{
    p->rounds = o->quick ? 3 : 9;
    p->seconds = o->quick ? 0.02 : 0.2;
    for (int row = 0; row < ROWS; row++) {
        for (int c = 0; c < JOB_COLUMNS; c++) {
            const workload *w = &job_rows[row];
            const char *column = job_columns[c].name;
            if (!lab_has(p, w, column))
                continue;
            lab_add(p, w, column, 1, "%s/%s/1", w->input, column);
            if (o->workers > 1)
                lab_add(p, w, column, o->workers, "%s/%s/%u", w->input, column, o->workers);
        }
    }
}

static lab_numbers jobs_times(const lab_results *r, int row, int column, unsigned workers)
{
    return lab_values(r, LAB_SAMPLES, NULL, "%s/%s/%u", job_rows[row].input,
                      job_columns[column].name, workers);
}

/* One number for each call, for comparison within a round. */
static lab_numbers jobs_rounds(const lab_results *r, int row, int column, unsigned workers)
{
    return lab_values(r, LAB_MEDIANS, NULL, "%s/%s/%u", job_rows[row].input,
                      job_columns[column].name, workers);
}

static double jobs_ms(const lab_results *r, int row, int column, unsigned workers)
{
    return statistics_median(jobs_times(r, row, column, workers)) * 1e3;
}

static const char *title_of(const lab_results *r, int row)
{
    return lab_was_quick(r) ? quick_titles[row] : titles[row];
}

/* The column that a step is relative to: the one to the left, for Filch the last published one. */
static int column_before(int column)
{
    return column >= PUBLISHED ? PUBLISHED - 1 : column - 1;
}

/* ---- tables and charts ---- */

static void jobs_chart(const lab_results *r, report_page *page, unsigned workers)
{
    chart_bar bars[ROWS * JOB_COLUMNS];
    char title[128];
    int n = 0;
    for (int row = 0; row < ROWS; row++) {
        for (int c = 0; c < JOB_COLUMNS; c++) {
            lab_numbers t = jobs_times(r, row, c, workers);
            if (t.count > 0)
                bars[n++] = (chart_bar){title_of(r, row),
                                        job_columns[c].name,
                                        statistics_median(t) * 1e3,
                                        statistics_quantile(t, 0.25) * 1e3,
                                        statistics_quantile(t, 0.75) * 1e3,
                                        c < PUBLISHED ? 1 : 0};
        }
    }
    snprintf(title, sizeof title, "Many small jobs, %u worker%s.", workers,
             workers == 1 ? "" : "s");
    report_page_chart(page,
                      &(chart){
                          .title = title,
                          .about = "Median time of all jobs with the quartiles; shorter is "
                                   "better. The first three of each group are the steps of Job "
                                   "System 2.0, the others are Filch. The scale is logarithmic.",
                          .x = {"milliseconds", true},
                          .bars = bars,
                          .bar_count = n,
                      });
}

static void ratio_cell(report_page *page, double ratio)
{
    if (isfinite(ratio))
        report_page_cell(page, "%.2fx", ratio);
    else
        report_page_cell(page, "-");
}

/* Speed-up over the first column, and over the column before. */
static void gain_cells(report_page *page, const double *values, int column)
{
    ratio_cell(page, column == 0 ? NAN : values[0] / values[column]);
    ratio_cell(page, column == 0 ? NAN : values[column_before(column)] / values[column]);
}

static void table_row(const lab_results *r, report_page *page, int row, int column)
{
    unsigned workers = lab_workers(r);
    double values[JOB_COLUMNS];
    for (int c = 0; c < JOB_COLUMNS; c++)
        values[c] = jobs_ms(r, row, c, workers);
    report_page_cell(page, "%s", title_of(r, row));
    report_page_cell(page, "%s%s", column > 0 && column < PUBLISHED ? "+ " : "",
                     job_columns[column].name);
    report_page_number(page, jobs_ms(r, row, column, 1), 3);
    report_page_number(page, values[column], 3);
    gain_cells(page, values, column);
    report_page_number(page, column < PUBLISHED ? published[row][column] : NAN, 2);
    if (column < PUBLISHED) {
        gain_cells(page, published[row], column);
    } else {
        report_page_cell(page, "-");
        report_page_cell(page, "-");
    }
}

static void jobs_table(const lab_results *r, report_page *page)
{
    char columns[128];
    report_page_text(
        page,
        "basic, + allocator and + lock-free are the three steps of Job System 2.0, reimplemented "
        "here. filch: tasks, and filch_for for the loop, which creates no task while no worker is "
        "hungry. filch-group: filch_group_run. filch-job: jobs with a handle.");
    snprintf(columns, sizeof columns,
             "jobs|with|1 worker, ms|%u workers, ms|gain|step|published, ms|gain|step",
             lab_workers(r));
    report_page_table(page,
                      "Medians. gain: speed-up over basic; step: over the line above, for Filch "
                      "over + lock-free. Published: on another machine, 65,000 single jobs.",
                      columns);
    for (int row = 0; row < ROWS; row++)
        for (int c = 0; c < JOB_COLUMNS; c++)
            if (jobs_times(r, row, c, 1).count > 0)
                table_row(r, page, row, c);
}

/* ---- text ---- */

static void jobs_text(const lab_results *r, report_page *page)
{
    unsigned workers = lab_workers(r);
    for (int row = 0; row < ROWS; row++) {
        double basic = jobs_ms(r, row, 0, workers), lock_free = jobs_ms(r, row, 2, workers);
        double filch = jobs_ms(r, row, PUBLISHED, workers);
        if (!isfinite(basic) || !isfinite(lock_free) || !isfinite(filch))
            continue;
        report_page_text(page,
                         "%s, %u worker%s: without lock and malloc it takes %.2f of the time with "
                         "both (published: %.2f), and with tasks of Filch %.3f of that. A task "
                         "that is not stolen is a function call.",
                         title_of(r, row), workers, workers == 1 ? "" : "s", lock_free / basic,
                         published[row][2] / published[row][0], filch / lock_free);
    }
}

typedef struct steps {
    int gained, lost, compared;
} steps;

/* A step is faster if the whole interval of its ratio is below 1. */
static steps steps_of(const lab_results *r, unsigned workers)
{
    steps s = {0};
    for (int row = 0; row < ROWS; row++) {
        for (int c = 1; c < PUBLISHED; c++) {
            lab_numbers after = jobs_rounds(r, row, c, workers);
            lab_numbers from = jobs_rounds(r, row, c - 1, workers);
            lab_interval i = statistics_pairs_interval(after, from);
            if (after.count == 0 || from.count == 0)
                continue;
            s.compared++;
            s.gained += i.high < 1;
            s.lost += i.low > 1;
        }
    }
    return s;
}

static void jobs_verdict(const lab_results *r, report_page *page)
{
    unsigned workers = lab_workers(r);
    steps s = steps_of(r, workers);
    if (s.compared < 4) {
        report_page_verdict(page, LAB_CANNOT_TELL, "Not all of the three steps were measured.");
        report_page_summary(page, "Not all of the three steps were measured.");
        return;
    }
    lab_verdict v = s.gained == s.compared ? LAB_AGREES
                    : s.lost > 0           ? LAB_DIFFERS
                                           : LAB_CANNOT_TELL;
    report_page_verdict(
        page, v,
        "On %u worker%s, %d of %d steps (the allocator, then the lock-free deque, for "
        "single jobs and for the loop) are faster, %d are slower, and %d are within the spread. "
        "Total gain: %.2f for single jobs (published 6.31), %.2f for "
        "the loop (published 6.97).",
        workers, workers == 1 ? "" : "s", s.gained, s.compared, s.lost,
        s.compared - s.gained - s.lost, jobs_ms(r, 0, 0, workers) / jobs_ms(r, 0, 2, workers),
        jobs_ms(r, 1, 0, workers) / jobs_ms(r, 1, 2, workers));
    report_page_summary(
        page, "%s: %.2f, %.2f, %.2f ms in the three steps%s; Filch %.3f ms.", title_of(r, 0),
        jobs_ms(r, 0, 0, workers), jobs_ms(r, 0, 1, workers), jobs_ms(r, 0, 2, workers),
        lab_was_quick(r) ? "" : " (published: 18.5, 9.9, 2.93)", jobs_ms(r, 0, PUBLISHED, workers));
}

static void jobs_describe(const lab_results *r, report_page *page)
{
    if (lab_workers(r) > 1)
        jobs_chart(r, page, lab_workers(r));
    jobs_chart(r, page, 1);
    jobs_table(r, page);
    jobs_text(r, page);
    jobs_verdict(r, page);
}

const lab_experiment lab_jobs = {
    .name = "jobs",
    .title = "A job system in three steps",
    .about = "lock and malloc, allocator, lock-free, and Filch (\"Job System 2.0\")",
    .published =
        "Molecular Matters, \"Job System 2.0\", part 3: many small jobs on a job system for games, "
        "in ms. With a lock "
        "around each deque and malloc for each job: 18.5 for 65,000 single jobs, 5.3 for a "
        "parallel loop. With a ring of jobs in each thread: 9.9 and 1.35. With a lock-free deque "
        "in addition: 2.93 and 0.76, a total gain of 6.31 and 6.97. Each step was faster.",
    .plan = jobs_plan,
    .describe = jobs_describe,
};
