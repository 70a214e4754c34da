/* filch lab probabilities: probabilities of changes of a deque's size, from samples (Kuchumov
 * 2016, section 4.1). */
#define _GNU_SOURCE /* sched_getaffinity */
#include "experiments.h"

#include "deque_sizes.h"
#include "json.h"

#include <filch/runtime.h>

#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

enum { USUAL_GRID = 100, CHANGES = 5, DEQUES_MAX = 8, PUBLISHED_DEQUES = 2 };
#define GRID_MAX 1000000000

static const char *const default_workloads[] = {"matmul", "knapsack", NULL};
static const char *const policies[] = {"eager", "lazy"};
enum { EAGER, LAZY, POLICIES };

/* Published probabilities of changes by -2, -1, 0, 1, 2. */
typedef struct published {
    const char *workload;
    double p[PUBLISHED_DEQUES][CHANGES];
} published;

static const published published_results[] = {
    {"matmul",
     {{.0000047, .0976776, .8046355, .0976741, .0000080},
      {.0000000, .1343020, .7313987, .1342942, .0000044}}},
    {"knapsack",
     {{.0000000, .0282798, .9434404, .0282795, .0000002},
      {.0000000, .0538008, .8924009, .0537951, .0000031}}},
};

static const published *published_of(const char *name)
{
    for (size_t i = 0; i < sizeof published_results / sizeof published_results[0]; i++)
        if (strcmp(published_results[i].workload, name) == 0)
            return &published_results[i];
    return NULL;
}

/* ---- arguments ---- */

static long number_of(const char *word)
{
    char *end;
    long n = strtol(word, &end, 10);
    return *end == '\0' && n >= 1 && n <= GRID_MAX ? n : 0;
}

static const char *probabilities_check_args(const lab_options *o)
{
    static char why[256];
    for (int i = 0; o->args[i]; i++) {
        if (number_of(o->args[i]) > 0 || workload_named(o->args[i]))
            continue;
        char names[160];
        list_workloads(names, sizeof names);
        snprintf(why, sizeof why, "'%s' is neither a workload nor a number of ticks; workloads: %s",
                 o->args[i], names);
        return why;
    }
    return NULL;
}

/* The workloads among the arguments, or the default ones; terminated by NULL. */
static void workloads_among(const char *const *args, const char *out[LAB_ARGS + 1])
{
    int n = 0;
    for (int i = 0; args[i]; i++)
        if (workload_named(args[i]))
            out[n++] = args[i];
    for (int i = 0; n == 0 && default_workloads[i]; i++)
        out[i] = default_workloads[i];
    if (n > 0)
        out[n] = NULL;
    else
        out[2] = NULL;
}

/* ---- the plan ---- */

/* The grid for read_samples, set by the plan. */
static uint64_t grid = USUAL_GRID;

static const char *read_samples(const lab_case *c, const char *path, FILE *out)
{
    samples s;
    deque_sizes z;
    (void)c;
    const char *why = samples_open(&s, path);
    if (why)
        return why;
    if (deque_sizes_find(&z, &s, grid) < 0)
        why = "wrote more samples than fit into memory";
    else
        deque_sizes_write(&z, &s, grid, out);
    deque_sizes_free(&z);
    samples_close(&s);
    return why;
}

/* The sampler runs on the last usable CPU.  Workers are pinned from the first on. */
static int last_cpu(void)
{
    cpu_set_t set;
    int last = -1;
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        for (int i = 0; i < CPU_SETSIZE; i++)
            if (CPU_ISSET((size_t)i, &set))
                last = i;
    return last;
}

/* Two workers as in the paper, and one worker if the sampler would have no CPU of its own. */
static int worker_counts(unsigned cpus, unsigned out[2])
{
    if (cpus > 2) {
        out[0] = 2;
        return 1;
    }
    out[0] = 1;
    out[1] = 2;
    return 2;
}

static void probabilities_add(lab_plan *p, const char *name, int policy, unsigned workers)
{
    char file[LAB_NAME];
    lab_case *c = lab_add(p, workload_named(name), "filch", workers, "%s/%s/%u", name,
                          policies[policy], workers);
    lab_set(c, "FILCH_PUBLISH=%s", policies[policy]);
    lab_set(c, "FILCH_DEQUE=batch");
    lab_set(c, "FILCH_AFFINITY=cpu");
    lab_set(c, "FILCH_SAMPLE_NS=0");
    if (last_cpu() >= 0)
        lab_set(c, "FILCH_SAMPLE_CPU=%d", last_cpu());
    snprintf(file, sizeof file, "%s-%s-%u.samples", name, policies[policy], workers);
    lab_output_file(c, "FILCH_SAMPLE", file, read_samples);
}

static void probabilities_plan(const lab_options *o, lab_plan *p)
{
    const char *names[LAB_ARGS + 1];
    unsigned workers[2];
    int n = worker_counts(filch_cpu_count(), workers);
    workloads_among(o->args, names);
    p->rounds = 1;
    p->seconds = 2;
    for (int i = 0; o->args[i]; i++)
        if (number_of(o->args[i]) > 0)
            grid = (uint64_t)number_of(o->args[i]);
    for (int i = 0; names[i]; i++)
        for (int policy = 0; policy < POLICIES; policy++)
            for (int w = 0; w < n && lab_has(p, workload_named(names[i]), "filch"); w++)
                probabilities_add(p, names[i], policy, workers[w]);
}

/* ---- results ---- */

typedef struct deque_result {
    double p[CHANGES], beyond, steps, up, down, top, mean, largest;
    const char *curve; /* a JSON array */
} deque_result;

typedef struct sizes_result {
    bool exists;
    double seconds, dropped, samples, min_gap, median_gap, unseen, grid;
    int deques;
    deque_result of[DEQUES_MAX];
} sizes_result;

static double json_number_of(const char *object, const char *member)
{
    double value = NAN;
    const char *v = json_member(object, member);
    if (v)
        json_number(v, &value);
    return value;
}

static void read_deque(const char *object, deque_result *d)
{
    const char *p = json_member(object, "p");
    int i = 0;
    for (const char *v = p ? json_begin(p) : NULL; v && i < CHANGES; v = json_next(v))
        json_number(v, &d->p[i++]);
    d->beyond = json_number_of(object, "beyond");
    d->steps = json_number_of(object, "steps");
    d->up = json_number_of(object, "up");
    d->down = json_number_of(object, "down");
    d->top = json_number_of(object, "top");
    d->mean = json_number_of(object, "mean");
    d->largest = json_number_of(object, "largest");
    d->curve = json_member(object, "curve");
}

static sizes_result sizes_result_of(const lab_results *r, const char *name, int policy,
                                    unsigned workers)
{
    sizes_result t = {0};
    const char *analysis = lab_analysis(r, "%s/%s/%u", name, policies[policy], workers);
    const char *deques = analysis ? json_member(analysis, "deques") : NULL;
    if (!deques)
        return t;
    t.exists = true;
    t.seconds = json_number_of(analysis, "ticks") / json_number_of(analysis, "ticks_per_second");
    t.dropped = json_number_of(analysis, "dropped");
    t.samples = json_number_of(analysis, "samples");
    t.min_gap = json_number_of(analysis, "min_gap");
    t.median_gap = json_number_of(analysis, "median_gap");
    t.unseen = json_number_of(analysis, "unseen");
    t.grid = json_number_of(analysis, "grid");
    for (const char *d = json_begin(deques); d && t.deques < DEQUES_MAX; d = json_next(d))
        read_deque(d, &t.of[t.deques++]);
    return t;
}

/* ---- tables and charts ---- */

static void probability_cells(report_page *page, const double p[CHANGES], bool is_known)
{
    for (int l = 0; l < CHANGES; l++)
        report_page_number(page, is_known ? p[l] : NAN, 7);
}

static void published_rows(report_page *page, const char *name)
{
    const published *known = published_of(name);
    for (int d = 0; known && d < PUBLISHED_DEQUES; d++) {
        report_page_cell(page, "the paper");
        report_page_cell(page, "%d", d + 1);
        probability_cells(page, known->p[d], true);
        report_page_cell(page, "-");
        report_page_cell(page, "-");
        report_page_cell(page, "-");
    }
}

static void probability_rows(report_page *page, const sizes_result *t, int policy)
{
    for (int d = 0; d < t->deques; d++) {
        report_page_cell(page, "%s, %d worker%s", policies[policy], t->deques,
                         t->deques > 1 ? "s" : "");
        report_page_cell(page, "%d", d + 1);
        probability_cells(page, t->of[d].p, t->of[d].steps > 0);
        report_page_number(page, t->of[d].steps > 0 ? t->of[d].beyond : NAN, 7);
        report_page_number(page, t->of[d].steps > 0 ? t->of[d].up / t->of[d].steps : NAN, 7);
        report_page_number(page, t->of[d].largest, 0);
    }
}

static void probabilities_table(const lab_results *r, report_page *page, const char *name)
{
    char caption[256];
    unsigned workers[2];
    int n = worker_counts(lab_cpus(r), workers);
    sizes_result first = sizes_result_of(r, name, EAGER, workers[0]);
    snprintf(caption, sizeof caption,
             "%s: probability that the size of a deque changes by -2 to 2 within %.0f ticks, or by "
             "more. Pushes: increments of the bottom in that time, by the counter, so that changes "
             "between samples are included.",
             name, first.exists ? first.grid : (double)USUAL_GRID);
    report_page_table(page, caption, "setting|deque|-2|-1|0|1|2|beyond|pushes|max size");
    published_rows(page, name);
    for (int policy = 0; policy < POLICIES; policy++)
        for (int w = 0; w < n; w++) {
            sizes_result t = sizes_result_of(r, name, policy, workers[w]);
            probability_rows(page, &t, policy);
        }
}

static int read_curve(const deque_result *d, double seconds, chart_point out[DEQUE_SIZES_CURVE])
{
    int n = 0;
    for (const char *v = d->curve ? json_begin(d->curve) : NULL; v && n < DEQUE_SIZES_CURVE;
         v = json_next(v)) {
        double size = 0;
        json_number(v, &size);
        out[n] = (chart_point){(n + 0.5) / DEQUE_SIZES_CURVE * seconds * 1e3, size, NAN, NAN};
        n++;
    }
    return n;
}

static void curve_chart(report_page *page, const sizes_result *t, const char *name, int policy)
{
    static chart_point points[DEQUES_MAX][DEQUE_SIZES_CURVE];
    static char names[DEQUES_MAX][24];
    chart_series series[DEQUES_MAX];
    char title[160];
    for (int d = 0; d < t->deques; d++) {
        snprintf(names[d], sizeof names[d], "deque %d", d + 1);
        series[d] =
            (chart_series){names[d], points[d], read_curve(&t->of[d], t->seconds, points[d]),
                           d % 2 == 0 ? CHART_LINE : CHART_DASHES, false};
    }
    snprintf(title, sizeof title, "%s, %s, %d worker%s: sizes of the deques over time.", name,
             policies[policy], t->deques, t->deques > 1 ? "s" : "");
    report_page_chart(
        page,
        &(chart){
            .title = title,
            .about = "The max size in each of 240 intervals from the first to the last change.",
            .x = {"ms", false},
            .y = {"tasks in the deque", false},
            .series = series,
            .count = t->deques,
        });
}

static void curve_charts(const lab_results *r, report_page *page, const char *name)
{
    unsigned workers[2];
    int n = worker_counts(lab_cpus(r), workers);
    for (int policy = 0; policy < POLICIES; policy++)
        for (int w = 0; w < n; w++) {
            sizes_result t = sizes_result_of(r, name, policy, workers[w]);
            if (t.exists && t.seconds > 0)
                curve_chart(page, &t, name, policy);
        }
}

/* ---- text ---- */

static double moves_between(const sizes_result *t)
{
    double moves = 0;
    for (int d = 0; d < t->deques; d++)
        moves += t->of[d].up + t->of[d].down + t->of[d].top;
    return t->samples > 1 ? moves / t->samples : NAN;
}

static void describe_sampling(report_page *page, const sizes_result *t, const char *name,
                              int policy)
{
    if (!t->exists || t->seconds <= 0) {
        if (t->exists)
            report_page_text(page, "%s, %s, %d worker%s: no task was ever in a deque.", name,
                             policies[policy], t->deques, t->deques > 1 ? "s" : "");
        return;
    }
    report_page_text(
        page,
        "%s, %s, %d worker%s: %.0f samples in %.1f ms, a median of %.0f ticks apart where a deque "
        "changed (min %.0f), and %.1f changes between samples. In %.0f%% of the time the sampler "
        "did not run for 20 us or more while workers did; this time is excluded.%s",
        name, policies[policy], t->deques, t->deques > 1 ? "s" : "", t->samples, t->seconds * 1e3,
        t->median_gap, t->min_gap, moves_between(t), t->unseen * 100,
        t->dropped > 0 ? " The sample buffer holds the last part of the run only." : "");
}

static void probabilities_sentence(const lab_results *r, report_page *page, const char *name)
{
    unsigned workers[2];
    int n = worker_counts(lab_cpus(r), workers);
    for (int policy = 0; policy < POLICIES; policy++)
        for (int w = 0; w < n; w++) {
            sizes_result t = sizes_result_of(r, name, policy, workers[w]);
            describe_sampling(page, &t, name, policy);
        }
}

/* The shape of the published rows: no change is most likely, then changes by one, others are
 * rare. */
static bool has_shape(const deque_result *d)
{
    double one = d->p[1] + d->p[3], more = d->p[0] + d->p[4] + d->beyond;
    return d->steps > 0 && one > 0 && d->p[2] > one && more < one / 5;
}

/* Only if the sampler had its own CPU. */
static void probabilities_verdict(const lab_results *r, report_page *page, const char *const *names)
{
    unsigned workers[2];
    int judged = 0, alike = 0;
    double one = 0, by_paper = 0, lazy = NAN;
    worker_counts(lab_cpus(r), workers);
    for (int i = 0; names[i]; i++) {
        sizes_result t = sizes_result_of(r, names[i], EAGER, workers[0]),
                     l = sizes_result_of(r, names[i], LAZY, workers[0]);
        const published *known = published_of(names[i]);
        for (int d = 0; d < t.deques && t.of[d].steps > 0; d++) {
            judged++;
            alike += has_shape(&t.of[d]);
            one = t.of[d].p[3];
            by_paper = known ? known->p[0][3] : NAN;
        }
        if (l.deques > 0 && l.of[0].steps > 0)
            lazy = l.of[0].p[3];
    }
    if (judged == 0 || lab_cpus(r) < 2) {
        report_page_verdict(page, LAB_CANNOT_TELL,
                            "There are no samples of running workers; two CPUs are needed.");
        report_page_summary(page, "No samples of running workers.");
        return;
    }
    report_page_verdict(
        page, alike == judged ? LAB_AGREES : LAB_DIFFERS,
        "In the setting of the paper (eager, batch), %d of %d deques change as the published ones: "
        "mostly not at all, otherwise by one, and by more at most a fifth as often. The "
        "frequencies depend on the processor and the length of tasks, and are not compared.",
        alike, judged);
    if (isnan(by_paper))
        report_page_summary(page, "P(+1) is %.5f, eager; most steps change nothing.", one);
    else
        report_page_summary(page, "%s: P(+1) is %.5f, eager, where the paper has %.5f; lazy %.5f.",
                            names[0] && names[1] ? names[1] : names[0], one, by_paper,
                            isnan(lazy) ? 0 : lazy);
}

/* The workloads in the journal's arguments. */
static void names_of(const lab_results *r, const char *names[LAB_ARGS + 1])
{
    static char copy[256];
    const char *args[LAB_ARGS + 1] = {NULL};
    int n = 0;
    snprintf(copy, sizeof copy, "%s", lab_args(r));
    for (char *w = strtok(copy, " "); w && n < LAB_ARGS; w = strtok(NULL, " "))
        args[n++] = w;
    workloads_among(args, names);
}

static void probabilities_describe(const lab_results *r, report_page *page)
{
    const char *names[LAB_ARGS + 1];
    names_of(r, names);
    for (int i = 0; names[i]; i++) {
        probabilities_table(r, page, names[i]);
        curve_charts(r, page, names[i]);
    }
    report_page_text(
        page, "A size is B+ - B- - T: increments of the bottom, minus decrements of the bottom, "
              "minus increments of the top. Between two samples that are k steps apart, the size "
              "is assumed to change by the same fraction du of a task in each step. A step with du "
              "counts as du/l changes by l, where l is du rounded away from 0, and the rest of the "
              "step as no change. Changes that cancel out between two samples are not seen, so "
              "these are lower bounds; compare the column pushes.");
    for (int i = 0; names[i]; i++)
        probabilities_sentence(r, page, names[i]);
    if (lab_cpus(r) <= 2)
        report_page_text(page,
                         "The machine had %u CPU%s. With 2 workers the sampler shares the last one "
                         "with worker 2, and sees its deque only while it does not change. Compare "
                         "only the rows with 1 worker with the paper.",
                         lab_cpus(r), lab_cpus(r) == 1 ? "" : "s");
    report_page_text(page, "In the lazy setting, the default of Filch, a task gets into a deque "
                           "only when a worker is hungry, so deques hardly change.");
    probabilities_verdict(r, page, names);
}

const lab_experiment lab_probabilities = {
    .name = "probabilities",
    .title = "Changes of deque sizes",
    .about = "probabilities of changes of a deque's size (section 4.1)",
    .published = "Kuchumov 2016, section 4.1: a thread samples bottom and top of each deque with "
                 "RDTSCP time stamps. From these samples he estimates the probability that the "
                 "size changes by l within 100 ticks, for matrix multiplication and knapsack on "
                 "dedicated cores. Found: mostly the size does not change, otherwise by one, up as "
                 "often as down, and hardly ever by more.",
    .plan = probabilities_plan,
    .describe = probabilities_describe,
    .args = "[WORKLOAD...] [TICKS]",
    .check_args = probabilities_check_args,
};
