/* filch lab steals: Kuchumov 2016, Fig. 5 and Fig. 6, and the effect of the size of a steal on
 * the time. */
#include "experiments.h"

#include "series.h"
#include "u_shape.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const policies[] = {"eager", "lazy"};
enum { EAGER, LAZY, POLICIES };

/* Children of each task of the tree, 3 levels deep.  The paper does not say what was varied. */
static const long widths[] = {50, 75, 100, 150, 200, 250, 300};
static const long quick_widths[] = {30, 45, 60, 80, 100, 120, 150};
enum { WIDTHS = sizeof widths / sizeof widths[0] };

static const int batches[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64};
enum { BATCHES = sizeof batches / sizeof batches[0] };

enum { ROUNDS = 7, QUICK_ROUNDS = 5, PAPER_WORKERS = 4, SETTINGS = 2 * POLICIES };
enum { POINTS_MAX = REPEATS_MAX * BATCHES };

/* ---- the plan ---- */

static long width_at(bool quick, int i)
{
    return quick ? quick_widths[i] : widths[i];
}

/* The requested number, and that of the paper's processor. */
static int worker_counts(unsigned requested, unsigned out[2])
{
    out[0] = requested;
    out[1] = PAPER_WORKERS;
    return requested == PAPER_WORKERS ? 1 : 2;
}

static void steals_add(lab_plan *p, const char *of, long value, int batch, long width, int policy,
                       unsigned workers)
{
    lab_case *c = lab_add(p, workload_named("tree"), "filch", workers, "%s/%ld/%s/%u", of, value,
                          policies[policy], workers);
    lab_size(c, width);
    lab_set(c, "FILCH_PUBLISH=%s", policies[policy]);
    lab_set(c, "FILCH_DEQUE=batch");
    lab_set(c, "FILCH_STEAL_BATCH=%d", batch);
}

static void steals_plan(const lab_options *o, lab_plan *p)
{
    unsigned workers[2];
    int n = worker_counts(o->workers, workers);
    p->rounds = o->quick ? QUICK_ROUNDS : ROUNDS;
    p->seconds = o->quick ? 0.1 : 0.6;
    if (!lab_has(p, workload_named("tree"), "filch"))
        return;
    for (int w = 0; w < n; w++)
        for (int policy = 0; policy < POLICIES; policy++) {
            for (int i = 0; i < WIDTHS; i++)
                steals_add(p, "tasks", width_at(o->quick, i), 1, width_at(o->quick, i), policy,
                           workers[w]);
            for (int i = 0; i < BATCHES; i++)
                steals_add(p, "k", batches[i], batches[i], width_at(o->quick, WIDTHS - 1), policy,
                           workers[w]);
        }
}

/* ---- numbers ---- */

typedef struct setting {
    int policy;
    unsigned workers;
    char name[48];
} setting;

static int settings_of(const lab_results *r, setting out[SETTINGS])
{
    unsigned workers[2];
    int n = 0, counts = worker_counts(lab_workers(r), workers);
    for (int policy = 0; policy < POLICIES; policy++)
        for (int w = 0; w < counts; w++) {
            setting *s = &out[n++];
            *s = (setting){.policy = policy, .workers = workers[w]};
            snprintf(s->name, sizeof s->name, "%s, %u worker%s", policies[policy], workers[w],
                     workers[w] == 1 ? "" : "s");
        }
    return n;
}

/* A point for each call. */
typedef struct cloud {
    double x[POINTS_MAX], y[POINTS_MAX];
    int n;
} cloud;

static void cloud_add(cloud *c, double x, double y)
{
    if (c->n == POINTS_MAX)
        return;
    c->x[c->n] = x;
    c->y[c->n++] = y;
}

static lab_numbers cloud_xs(const cloud *c)
{
    return (lab_numbers){c->x, c->n};
}

static lab_numbers cloud_ys(const cloud *c)
{
    return (lab_numbers){c->y, c->n};
}

/* Successful steals, one number for each call, in `out`. */
static lab_numbers steals_of(const lab_results *r, const char *of, long value, const setting *s,
                             double out[REPEATS_MAX])
{
    lab_numbers one = lab_values(r, LAB_COUNTER, "deque_steals_single", "%s/%ld/%s/%u", of, value,
                                 policies[s->policy], s->workers);
    lab_numbers many = lab_values(r, LAB_COUNTER, "deque_steals_multiple", "%s/%ld/%s/%u", of,
                                  value, policies[s->policy], s->workers);
    int n = one.count < many.count ? one.count : many.count;
    n = n < REPEATS_MAX ? n : REPEATS_MAX;
    for (int i = 0; i < n; i++)
        out[i] = one.at[i] + many.at[i];
    return (lab_numbers){out, n};
}

static double tasks_of(long width)
{
    double w = (double)width;
    return w + w * w + w * w * w;
}

static chart_point point_of(double x, lab_numbers n)
{
    return (chart_point){x, statistics_median(n), statistics_quantile(n, 0.25),
                         statistics_quantile(n, 0.75)};
}

/* ---- Fig. 5 ---- */

static void tasks_cloud(const lab_results *r, const setting *s, cloud *c)
{
    double buffer[REPEATS_MAX];
    c->n = 0;
    for (int i = 0; i < WIDTHS; i++) {
        long width = width_at(lab_was_quick(r), i);
        lab_numbers n = steals_of(r, "tasks", width, s, buffer);
        for (int j = 0; j < n.count; j++)
            cloud_add(c, tasks_of(width), n.at[j]);
    }
}

static int tasks_points(const lab_results *r, const setting *s, chart_point out[WIDTHS])
{
    double buffer[REPEATS_MAX];
    int count = 0;
    for (int i = 0; i < WIDTHS; i++) {
        long width = width_at(lab_was_quick(r), i);
        lab_numbers n = steals_of(r, "tasks", width, s, buffer);
        if (n.count > 0)
            out[count++] = point_of(tasks_of(width) * 1e-6, n);
    }
    return count;
}

static cloud scratch; /* too large for the stack */

/* The points of a setting, and its line. */
typedef struct tasks_drawn {
    chart_point points[WIDTHS], line[2];
    char fit[64];
} tasks_drawn;

static void draw_tasks(const lab_results *r, const setting *s, tasks_drawn *d, chart_series out[2])
{
    double max_tasks = tasks_of(width_at(lab_was_quick(r), WIDTHS - 1));
    tasks_cloud(r, s, &scratch);
    lab_fit f = statistics_fit(cloud_xs(&scratch), cloud_ys(&scratch));
    out[0] = (chart_series){s->name, d->points, tasks_points(r, s, d->points), CHART_POINTS, false};
    d->line[0] = (chart_point){0, f.intercept, NAN, NAN};
    d->line[1] = (chart_point){max_tasks * 1e-6, f.intercept + f.slope * max_tasks, NAN, NAN};
    snprintf(d->fit, sizeof d->fit, "its line, R2 %.2f", f.r2);
    out[1] = (chart_series){d->fit, d->line, isnan(f.slope) ? 0 : 2, CHART_DASHES, true};
}

static void tasks_chart(const lab_results *r, report_page *page, const setting *all, int n,
                        int policy)
{
    tasks_drawn buffer[SETTINGS];
    chart_series drawn[2 * SETTINGS];
    char title[96];
    int count = 0;
    for (int i = 0; i < n; i++)
        if (all[i].policy == policy) {
            draw_tasks(r, &all[i], &buffer[i], &drawn[count]);
            count += 2;
        }
    snprintf(title, sizeof title, "Fig. 5, %s: steals against the number of tasks, k = 1.",
             policies[policy]);
    report_page_chart(page, &(chart){
                                .title = title,
                                .about = "Medians with quartiles, and for each setting the "
                                         "least-squares line through all calls.",
                                .x = {"million tasks", false},
                                .y = {"steals", false},
                                .series = drawn,
                                .count = count,
                            });
}

typedef struct growth {
    lab_fit fit;
    double r2_of_medians;
    double power; /* exponent of the growth of the medians */
    double r;
    lab_interval between;
} growth;

static double r2_of_medians(const lab_results *r, const setting *s)
{
    chart_point points[WIDTHS];
    int n = tasks_points(r, s, points);
    scratch.n = 0;
    for (int i = 0; i < n; i++)
        cloud_add(&scratch, points[i].x, points[i].y);
    return statistics_fit(cloud_xs(&scratch), cloud_ys(&scratch)).r2;
}

static double power_of_medians(const lab_results *r, const setting *s)
{
    chart_point points[WIDTHS];
    int n = tasks_points(r, s, points);
    scratch.n = 0;
    for (int i = 0; i < n; i++)
        if (points[i].y > 0)
            cloud_add(&scratch, log(points[i].x), log(points[i].y));
    return statistics_fit(cloud_xs(&scratch), cloud_ys(&scratch)).slope;
}

static growth growth_of(const lab_results *r, const setting *s)
{
    growth g = {.r2_of_medians = r2_of_medians(r, s), .power = power_of_medians(r, s)};
    tasks_cloud(r, s, &scratch);
    g.fit = statistics_fit(cloud_xs(&scratch), cloud_ys(&scratch));
    g.r = statistics_correlation(cloud_xs(&scratch), cloud_ys(&scratch));
    g.between = statistics_correlation_interval(cloud_xs(&scratch), cloud_ys(&scratch));
    return g;
}

/* A line explains nine tenths of the variance of the medians; or there is growth only. */
static bool growth_is_linear(const growth *g)
{
    return g->r2_of_medians >= 0.9 && g->between.low > 0;
}

static bool growth_is_significant(const growth *g)
{
    return g->between.low > 0;
}

static void tasks_table(const lab_results *r, report_page *page, const setting *all, int n)
{
    report_page_table(
        page,
        "Steals against tasks: the least-squares line through all calls (steals per million tasks, "
        "and value at 0), the exponent of the growth of the medians (1: linear), and the "
        "correlation coefficient with its 95 % interval (Fisher).",
        "setting|per million|at 0|R2|R2 of medians|power|correlation|interval");
    for (int i = 0; i < n; i++) {
        growth g = growth_of(r, &all[i]);
        report_page_cell(page, "%s", all[i].name);
        report_page_number(page, g.fit.slope * 1e6, 2);
        report_page_number(page, g.fit.intercept, 1);
        report_page_number(page, g.fit.r2, 3);
        report_page_number(page, g.r2_of_medians, 3);
        report_page_number(page, g.power, 2);
        report_page_number(page, g.r, 3);
        report_page_cell(page, "%.3f to %.3f", g.between.low, g.between.high);
    }
}

static void tasks_words(const lab_results *r, report_page *page, const setting *all, int n)
{
    for (int i = 0; i < n; i++) {
        growth g = growth_of(r, &all[i]);
        if (isnan(g.r))
            continue;
        report_page_text(page,
                         "%s: %s (R2 %.2f of the medians, %.2f of all calls). A million more tasks "
                         "are %.1f more steals.",
                         all[i].name,
                         growth_is_linear(&g) ? "steals grow linearly with tasks"
                         : growth_is_significant(&g)
                             ? "steals grow with tasks, but a line explains only part of it"
                             : "steals do not grow significantly with tasks",
                         g.r2_of_medians, g.fit.r2, g.fit.slope * 1e6);
    }
}

/* ---- Fig. 6 ---- */

static void k_steals(const lab_results *r, const setting *s, double buffer[BATCHES][REPEATS_MAX],
                     lab_numbers out[BATCHES])
{
    for (int i = 0; i < BATCHES; i++)
        out[i] = steals_of(r, "k", batches[i], s, buffer[i]);
}

static u_shape k_u_shape(const lab_results *r, const setting *s)
{
    static double buffer[BATCHES][REPEATS_MAX];
    lab_numbers at[BATCHES];
    k_steals(r, s, buffer, at);
    return u_shape_of(at, BATCHES);
}

static void k_chart(const lab_results *r, report_page *page, const setting *all, int n)
{
    static double buffer[BATCHES][REPEATS_MAX];
    chart_point points[SETTINGS][BATCHES];
    chart_series drawn[SETTINGS];
    for (int i = 0; i < n; i++) {
        lab_numbers at[BATCHES];
        int count = 0;
        k_steals(r, &all[i], buffer, at);
        for (int k = 0; k < BATCHES; k++)
            if (at[k].count > 0)
                points[i][count++] = point_of(batches[k], at[k]);
        drawn[i] = (chart_series){all[i].name, points[i], count, CHART_LINE, false};
    }
    report_page_chart(page,
                      &(chart){
                          .title = "Fig. 6: steals against k, the max number of tasks per steal.",
                          .about = "The tree with as many children for each task as above, 3 deep. "
                                   "Medians with quartiles.",
                          .x = {"k", true},
                          .y = {"steals", false},
                          .series = drawn,
                          .count = n,
                      });
}

static const char *shape_of(const u_shape *b)
{
    if (b->falls && b->rises)
        return "falls, then rises";
    if (b->falls)
        return "falls, and does not rise significantly";
    return b->rises ? "rises, and does not fall significantly"
                    : "neither falls nor rises significantly";
}

static void k_table(const lab_results *r, report_page *page, const setting *all, int n)
{
    report_page_table(
        page, "Steals against k: the k with the lowest median, and the ratios of both ends to it.",
        "setting|fewest at k|k = 1, ratio|k = 64, ratio|shape");
    for (int i = 0; i < n; i++) {
        u_shape b = k_u_shape(r, &all[i]);
        report_page_cell(page, "%s", all[i].name);
        report_page_cell(page, "%d", b.min_index < 0 ? 0 : batches[b.min_index]);
        report_page_number(page, b.fall, 2);
        report_page_number(page, b.rise, 2);
        report_page_cell(page, "%s", b.min_index < 0 ? "-" : shape_of(&b));
    }
}

/* ---- k and time ---- */

static lab_numbers k_times(const lab_results *r, const setting *s, int batch)
{
    return lab_values(r, LAB_SAMPLES, NULL, "k/%d/%s/%u", batch, policies[s->policy], s->workers);
}

static void time_cloud(const lab_results *r, const setting *s, cloud *c)
{
    c->n = 0;
    for (int i = 0; i < BATCHES; i++) {
        lab_numbers t = k_times(r, s, batches[i]);
        for (int j = 0; j < t.count; j++)
            cloud_add(c, batches[i], t.at[j]);
    }
}

static void time_chart(const lab_results *r, report_page *page, const setting *all, int n)
{
    chart_point points[SETTINGS][BATCHES];
    chart_series drawn[SETTINGS];
    for (int i = 0; i < n; i++) {
        double first = statistics_median(k_times(r, &all[i], batches[0]));
        int count = 0;
        for (int k = 0; k < BATCHES; k++) {
            lab_numbers t = k_times(r, &all[i], batches[k]);
            lab_interval in = statistics_median_interval(t);
            if (t.count > 0)
                points[i][count++] = (chart_point){batches[k], statistics_median(t) / first,
                                                   in.low / first, in.high / first};
        }
        drawn[i] = (chart_series){all[i].name, points[i], count, CHART_LINE, false};
    }
    report_page_chart(
        page, &(chart){
                  .title = "Time against k, relative to k = 1.",
                  .about = "Medians with 95 % bootstrap intervals. Both scales are logarithmic.",
                  .x = {"k", true},
                  .y = {"time / time for k = 1", true},
                  .series = drawn,
                  .count = n,
              });
}

static bool has_no_correlation(lab_interval i)
{
    return i.low <= 0 && i.high >= 0;
}

static lab_interval time_between(const lab_results *r, const setting *s)
{
    time_cloud(r, s, &scratch);
    return statistics_correlation_interval(cloud_xs(&scratch), cloud_ys(&scratch));
}

static void time_table(const lab_results *r, report_page *page, const setting *all, int n)
{
    report_page_table(page,
                      "Time against k: the correlation coefficient over all calls with its 95 % "
                      "interval (Fisher).",
                      "setting|median ms, k = 1|median ms, k = 64|correlation|interval|result");
    for (int i = 0; i < n; i++) {
        lab_interval in = time_between(r, &all[i]);
        report_page_cell(page, "%s", all[i].name);
        report_page_number(page, statistics_median(k_times(r, &all[i], 1)) * 1e3, 2);
        report_page_number(page, statistics_median(k_times(r, &all[i], 64)) * 1e3, 2);
        report_page_number(page, statistics_correlation(cloud_xs(&scratch), cloud_ys(&scratch)), 3);
        report_page_cell(page, "%.3f to %.3f", in.low, in.high);
        report_page_cell(page, "%s",
                         isnan(in.low)            ? "-"
                         : has_no_correlation(in) ? "none seen"
                         : in.low > 0             ? "a larger k is slower"
                                                  : "a larger k is faster");
    }
}

/* ---- text ---- */

static void steals_text(const lab_results *r, report_page *page, const setting *all, int n)
{
    report_page_text(page,
                     "A steal is a successful visit to the deque of another worker. Eager is the "
                     "setting of the paper: each task goes into the deque when it is spawned. Lazy "
                     "is the default of Filch: a task becomes stealable when a worker is hungry.");
    tasks_words(r, page, all, n);
    for (int i = 0; i < n; i++) {
        u_shape b = k_u_shape(r, &all[i]);
        if (b.min_index >= 0)
            report_page_text(page,
                             "%s: with k, the number of steals %s. The minimum is at k = %d; k = 1 "
                             "has %.1f times, k = 64 %.1f times as many.",
                             all[i].name, shape_of(&b), batches[b.min_index], b.fall, b.rise);
    }
    report_page_text(page,
                     "A 95 %% interval misses the true value once in 20 times, and there are %d "
                     "settings, so one interval that barely excludes 0 is not a proof.",
                     n);
    if (lab_cpus(r) < PAPER_WORKERS)
        report_page_text(
            page,
            "The machine had %u CPU%s, so %d workers share them. A worker that is not on a CPU has "
            "its deque emptied by others, so there are more steals than with enough CPUs.",
            lab_cpus(r), lab_cpus(r) == 1 ? "" : "s", PAPER_WORKERS);
}

/* The setting of the paper: eager, with as many workers as its processor has CPUs. */
static const setting *as_in_paper(const setting *all, int n)
{
    for (int i = 0; i < n; i++)
        if (all[i].policy == EAGER && all[i].workers == PAPER_WORKERS)
            return &all[i];
    return &all[0];
}

static void steals_verdict(const lab_results *r, report_page *page, const setting *s)
{
    growth g = growth_of(r, s);
    u_shape b = k_u_shape(r, s);
    lab_interval in = time_between(r, s);
    if (isnan(g.r) || b.min_index < 0 || isnan(in.low) || lab_rounds(r) < 3) {
        report_page_verdict(page, LAB_CANNOT_TELL, "There are too few calls to tell.");
        report_page_summary(page, "Too few calls to tell.");
        return;
    }
    bool alike = growth_is_linear(&g) && b.falls && b.rises && has_no_correlation(in);
    report_page_verdict(
        page, alike ? LAB_AGREES : LAB_DIFFERS,
        "In the setting of the paper (%s): %s with tasks (R2 %.2f; linear means at least 0.9); the "
        "number of steals %s with k (%.1f times as many at k = 1 and %.1f times as "
        "many at k = 64 as at k = %d); the correlation of k with time is %.2f to %.2f, %s.",
        s->name,
        growth_is_linear(&g)        ? "steals grow linearly"
        : growth_is_significant(&g) ? "steals grow, but not linearly,"
                                    : "steals do not grow significantly",
        g.r2_of_medians, shape_of(&b), b.fall, b.rise, batches[b.min_index], in.low, in.high,
        has_no_correlation(in) ? "so there is none" : "so there is one");
    report_page_summary(page,
                        "Steals by tasks: R2 %.2f; by k: it %s, least at k = %d; k and time: %s.",
                        g.r2_of_medians, shape_of(&b), batches[b.min_index],
                        has_no_correlation(in) ? "no correlation" : "a correlation");
}

static void steals_describe(const lab_results *r, report_page *page)
{
    setting all[SETTINGS];
    int n = settings_of(r, all);
    tasks_chart(r, page, all, n, EAGER);
    tasks_chart(r, page, all, n, LAZY);
    tasks_table(r, page, all, n);
    k_chart(r, page, all, n);
    k_table(r, page, all, n);
    time_chart(r, page, all, n);
    time_table(r, page, all, n);
    steals_text(r, page, all, n);
    steals_verdict(r, page, as_in_paper(all, n));
}

const lab_experiment lab_steals = {
    .name = "steals",
    .title = "Number of steals",
    .about = "steals against tasks and against k, and k against time (Fig. 5, Fig. 6)",
    .published =
        "Kuchumov 2016, section 4.2, on 4 CPUs. Fig. 5: the number of steals grows with the "
        "number of subtasks, clearly linearly. Fig. 6: for a task with 300 subtasks, 3 levels "
        "deep, it first falls sharply with k, the number of tasks per steal, and then rises, "
        "because a worker that is left with few tasks soon steals itself. No correlation of k with "
        "the time was seen.",
    .plan = steals_plan,
    .describe = steals_describe,
};
