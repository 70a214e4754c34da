/* filch lab peers: the workloads of Kuchumov 2016, Fig. 7, on Filch and other runtimes. */
#include "experiments.h"

#include "programs.h"

#include <math.h>
#include <string.h>

typedef struct peers_row {
    const char *workload;
    const char *before, *after; /* title: text before and after the size */
    long size;                  /* 0: the default */
    double unit;                /* unit of the size in the title */
} peers_row;

static const peers_row rows[] = {
    {"fib", "fib(", ")", 35, 1},
    {"knapsack", "knapsack, ", " things", 26, 1},
    {"matmul", "matmul, ", " a side", 256, 1},
    {"sort-uniform", "sort, ", " MB, uniform", 0, (1 << 20) / 4.0},
    {"sort-exponential", "sort, ", " MB, exponential", 0, (1 << 20) / 4.0},
    {"tree", "tree, ", " children, 3 deep", 300, 1},
};
enum { ROWS = sizeof rows / sizeof rows[0] };

typedef struct peers_column {
    const char *name, *runtime;
    const char *serial; /* the serial program of its compiler; if missing, the common one */
    const char *setting;
    int colour;
} peers_column;

static const peers_column columns[] = {
    {"filch", "filch", NULL, NULL, 0},
    {"filch-eager", "filch", NULL, "FILCH_PUBLISH=eager", 5},
    {"tbb", "tbb", NULL, NULL, 1},
    {"libgomp", "libgomp", "serial-gcc", NULL, 3},
    {"libomp", "libomp", "serial-clang", NULL, 4},
};
enum { COLUMNS = sizeof columns / sizeof columns[0], FILCH = 0, EAGER = 1, TBB = 2 };

/* ---- the plan ---- */

static void peers_add(const lab_options *o, lab_plan *p, const peers_row *r, const char *name,
                      const char *runtime, const char *setting, unsigned workers)
{
    lab_case *c = lab_add(p, workload_named(r->workload), runtime, workers, "%s/%s/%u", r->workload,
                          name, workers);
    if (r->size > 0 && !o->quick)
        lab_size(c, r->size);
    if (setting)
        lab_set(c, "%s", setting);
}

static void add_column(const lab_options *o, lab_plan *p, const peers_row *r, const peers_column *c)
{
    if (!lab_has(p, workload_named(r->workload), c->runtime))
        return;
    peers_add(o, p, r, c->name, c->runtime, c->setting, 1);
    if (o->workers > 1)
        peers_add(o, p, r, c->name, c->runtime, c->setting, o->workers);
}

/* A missing serial program is not reported. */
static void add_serial(const lab_options *o, lab_plan *p, const peers_row *r)
{
    static const char *const programs[] = {"serial", "serial-gcc", "serial-clang"};
    for (int i = 0; i < 3; i++)
        if (program_exists(workload_named(r->workload), programs[i]))
            peers_add(o, p, r, programs[i], programs[i], NULL, 1);
}

static void peers_plan(const lab_options *o, lab_plan *p)
{
    p->seconds = o->quick ? 0.1 : 1.5;
    for (int r = 0; r < ROWS; r++) {
        add_serial(o, p, &rows[r]);
        for (int c = 0; c < COLUMNS; c++)
            add_column(o, p, &rows[r], &columns[c]);
    }
}

/* ---- results ---- */

static lab_numbers peers_times(const lab_results *r, int row, int column, unsigned workers)
{
    return lab_values(r, LAB_SAMPLES, NULL, "%s/%s/%u", rows[row].workload, columns[column].name,
                      workers);
}

/* One number for each call, for comparison within a round. */
static lab_numbers peers_rounds(const lab_results *r, int row, int column, unsigned workers)
{
    return lab_values(r, LAB_MEDIANS, NULL, "%s/%s/%u", rows[row].workload, columns[column].name,
                      workers);
}

static lab_numbers serial_times(const lab_results *r, int row, int column)
{
    lab_numbers own = {NULL, 0};
    if (columns[column].serial)
        own =
            lab_values(r, LAB_SAMPLES, NULL, "%s/%s/1", rows[row].workload, columns[column].serial);
    return own.count > 0 ? own
                         : lab_values(r, LAB_SAMPLES, NULL, "%s/serial/1", rows[row].workload);
}

enum { TITLE = 64 };

/* With the measured size. */
static const char *title_of(const lab_results *r, int row, char out[TITLE])
{
    double size =
        statistics_median(lab_values(r, LAB_MEMBER, "size", "%s/filch/1", rows[row].workload));
    snprintf(out, TITLE, "%s%.3g%s", rows[row].before, size / rows[row].unit, rows[row].after);
    return out;
}

static void peers_chart(const lab_results *r, report_page *page, unsigned workers)
{
    chart_bar bars[ROWS * COLUMNS];
    char title[128], groups[ROWS][TITLE];
    int n = 0;
    for (int i = 0; i < ROWS; i++) {
        title_of(r, i, groups[i]);
        for (int c = 0; c < COLUMNS; c++) {
            lab_numbers t = peers_times(r, i, c, workers);
            double serial = statistics_median(serial_times(r, i, c));
            if (t.count > 0)
                bars[n++] = (chart_bar){groups[i],
                                        columns[c].name,
                                        statistics_median(t) / serial,
                                        statistics_quantile(t, 0.25) / serial,
                                        statistics_quantile(t, 0.75) / serial,
                                        columns[c].colour};
        }
    }
    snprintf(title, sizeof title, "Time / time of the serial program, %u worker%s.", workers,
             workers == 1 ? "" : "s");
    report_page_chart(page, &(chart){
                                .title = title,
                                .about = "Medians with quartiles; shorter is better. Left of 1 is "
                                         "faster than the serial program of the same compiler. "
                                         "The scale is logarithmic.",
                                .x = {"times the serial time", true},
                                .bars = bars,
                                .bar_count = n,
                                .base = 1,
                                .base_name = "serial",
                            });
}

static void table_row(const lab_results *r, report_page *page, int row, int column,
                      unsigned workers)
{
    char title[TITLE];
    lab_numbers t = peers_times(r, row, column, workers);
    lab_numbers ours = peers_rounds(r, row, column, workers),
                tbb = peers_rounds(r, row, TBB, workers);
    lab_interval i = statistics_pairs_interval(ours, tbb);
    report_page_cell(page, "%s", title_of(r, row, title));
    report_page_cell(page, "%s", columns[column].name);
    report_page_number(page, statistics_median(t) * 1e3, 2);
    report_page_cell(page, "%.2f to %.2f", statistics_quantile(t, 0.25) * 1e3,
                     statistics_quantile(t, 0.75) * 1e3);
    report_page_number(page, statistics_median(t) / statistics_median(serial_times(r, row, column)),
                       2);
    report_page_number(page, column == TBB ? NAN : statistics_pairs_ratio(ours, tbb), 3);
    if (column == TBB || tbb.count == 0)
        report_page_cell(page, "-");
    else
        report_page_cell(page, "%.3f to %.3f", i.low, i.high);
}

static void peers_table(const lab_results *r, report_page *page, unsigned workers)
{
    char caption[256];
    snprintf(caption, sizeof caption,
             "%u worker%s. Quartiles: half of all times are between them. / TBB: median of the "
             "ratios to TBB in the same round; 95 %%: its bootstrap confidence interval.",
             workers, workers == 1 ? "" : "s");
    report_page_table(page, caption, "workload|runtime|median ms|quartiles|/ serial|/ TBB|95 %");
    for (int i = 0; i < ROWS; i++)
        for (int c = 0; c < COLUMNS; c++)
            if (peers_times(r, i, c, workers).count > 0)
                table_row(r, page, i, c, workers);
}

/* ---- text ---- */

typedef struct against_tbb {
    int compared, faster, slower, much_slower;
    double best, worst; /* ratios of medians */
    int best_row, worst_row;
} against_tbb;

/* Faster: the whole interval is below 1.  Much slower: it is above 2. */
static against_tbb compare_with_tbb(const lab_results *r, int column, unsigned workers)
{
    against_tbb a = {.best = INFINITY, .worst = 0};
    for (int i = 0; i < ROWS; i++) {
        lab_numbers ours = peers_rounds(r, i, column, workers),
                    tbb = peers_rounds(r, i, TBB, workers);
        if (ours.count < 2 || tbb.count < 2)
            continue;
        double ratio = statistics_pairs_ratio(ours, tbb);
        lab_interval in = statistics_pairs_interval(ours, tbb);
        a.compared++;
        a.faster += in.high < 1;
        a.slower += in.low > 1;
        a.much_slower += in.low > 2;
        if (ratio < a.best) {
            a.best = ratio;
            a.best_row = i;
        }
        if (ratio > a.worst) {
            a.worst = ratio;
            a.worst_row = i;
        }
    }
    return a;
}

static void peers_sentence(const lab_results *r, report_page *page, int column, unsigned workers)
{
    char best[TITLE], worst[TITLE];
    against_tbb a = compare_with_tbb(r, column, workers);
    if (a.compared == 0)
        return;
    report_page_text(
        page,
        "With %u worker%s, %s is faster than TBB on %d of %d workloads and slower on %d; the other "
        "differences are within the spread. Best: %s, %.3f of TBB's time; "
        "worst: %s, %.2f of it.",
        workers, workers == 1 ? "" : "s", columns[column].name, a.faster, a.compared, a.slower,
        title_of(r, a.best_row, best), a.best, title_of(r, a.worst_row, worst), a.worst);
}

static void peers_text(const lab_results *r, report_page *page)
{
    report_page_text(page, "filch is Filch with its defaults: a task becomes stealable when a "
                           "worker is hungry. filch-eager is the setting of the paper: each spawn "
                           "goes into the deque at once, and a steal takes several tasks.");
    for (int c = FILCH; c <= EAGER; c++) {
        peers_sentence(r, page, c, 1);
        if (lab_workers(r) > 1)
            peers_sentence(r, page, c, lab_workers(r));
    }
}

static void peers_verdict(const lab_results *r, report_page *page)
{
    unsigned workers = lab_workers(r);
    against_tbb a = compare_with_tbb(r, FILCH, workers), e = compare_with_tbb(r, EAGER, workers);
    if (a.compared == 0) {
        report_page_verdict(
            page, LAB_CANNOT_TELL,
            "There is nothing to compare with: TBB was measured not at all or only once.");
        report_page_summary(page, "TBB was measured not at all or only once.");
        return;
    }
    lab_verdict v = a.faster > 0 && a.much_slower == 0            ? LAB_AGREES
                    : a.slower == a.compared || a.much_slower > 0 ? LAB_DIFFERS
                                                                  : LAB_CANNOT_TELL;
    report_page_verdict(
        page, v,
        "With %u worker%s, Filch is faster than TBB on %d of %d workloads (%.3f to %.2f "
        "of its time), slower on %d, and more than twice as slow on %d; in the paper's "
        "own setting, filch-eager, faster on %d, slower on %d. Acceptable means at most twice as "
        "slow on each workload.",
        workers, workers == 1 ? "" : "s", a.faster, a.compared, a.best, a.worst, a.slower,
        a.much_slower, e.faster, e.slower);
    report_page_summary(page,
                        "Faster than TBB on %d of %d workloads, from %.3f to %.2f of its time.",
                        a.faster, a.compared, a.best, a.worst);
}

static void peers_describe(const lab_results *r, report_page *page)
{
    if (lab_workers(r) > 1)
        peers_chart(r, page, lab_workers(r));
    peers_chart(r, page, 1);
    peers_text(r, page);
    if (lab_workers(r) > 1)
        peers_table(r, page, lab_workers(r));
    peers_table(r, page, 1);
    peers_verdict(r, page);
}

const lab_experiment lab_peers = {
    .name = "peers",
    .title = "Comparison with TBB and OpenMP",
    .about = "workloads of Kuchumov 2016 on Filch, TBB and OpenMP (Fig. 7)",
    .published =
        "Kuchumov 2016, Fig. 7: his scheduler compared with Intel TBB, both by g++ 5.3.1 with -O2, "
        "on "
        "an Intel Pentium N3530 at 2.16 GHz with 4 CPUs: fib(35), a knapsack of 26 things, "
        "matrices of 256 x 256, merge sort of 64 MB of numbers, uniform and exponential, and a "
        "tree of 300 children for each task, 3 deep. Found: acceptable results, and on some "
        "workloads better than TBB.",
    .plan = peers_plan,
    .describe = peers_describe,
};
