/* filch lab deques: the cost of operations of the four deques. */
#include "experiments.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const workload pairs = {"deque-pairs", "deque", "pairs", 10, ""};
static const workload runs = {"deque-runs", "deque", "runs", 10, ""};
static const workload steals = {"deque-steals", "deque", "steals", 10, ""};

static const char *const kinds[] = {"plain", "locked", "bounded", "batch", "half"};
static const int colours[] = {3, 1, 2, 0, 5};
enum { KINDS = sizeof kinds / sizeof kinds[0], PLAIN = 0, LOCKED, BOUNDED, BATCH };

typedef struct row {
    const char *title;
    const workload *of;
    unsigned workers; /* the owner, and thieves */
} row;

static const row rows[] = {
    {"push + pop, no thief", &pairs, 1},    {"push + pop, 1 thief", &pairs, 2},
    {"push + pop, 3 thieves", &pairs, 4},   {"64 + 64, no thief", &runs, 1},
    {"64 + 64, 1 thief", &runs, 2},         {"64 + 64, 3 thieves", &runs, 4},
    {"steal, per item, alone", &steals, 1},
};
enum { ROWS = sizeof rows / sizeof rows[0] };

static bool deques_applies(const row *r, int kind)
{
    return kind != PLAIN || r->workers == 1;
}

static void deques_plan(const lab_options *o, lab_plan *p)
{
    p->rounds = o->quick ? 3 : 15;
    p->seconds = o->quick ? 0.05 : 0.2;
    for (int k = 0; k < KINDS; k++) {
        if (!lab_has(p, &pairs, kinds[k]))
            continue;
        for (int r = 0; r < ROWS; r++)
            if (deques_applies(&rows[r], k))
                lab_add(p, rows[r].of, kinds[k], rows[r].workers, "%s/%s/%u", rows[r].of->input,
                        kinds[k], rows[r].workers);
    }
}

static lab_numbers ns_of(const lab_results *r, int of, int kind)
{
    return lab_values(r, LAB_METRIC, "ns", "%s/%s/%u", rows[of].of->input, kinds[kind],
                      rows[of].workers);
}

/* One number for each call, for comparison within a round. */
static lab_numbers deques_rounds(const lab_results *r, int of, int kind)
{
    return lab_values(r, LAB_MEDIANS, "ns", "%s/%s/%u", rows[of].of->input, kinds[kind],
                      rows[of].workers);
}

/* ---- tables and charts ---- */

static void deques_table(const lab_results *r, report_page *page)
{
    report_page_table(page, "Nanoseconds, as medians; in brackets the quartiles.",
                      "|plain array|locked|bounded|batch|half");
    for (int i = 0; i < ROWS; i++) {
        report_page_cell(page, "%s", rows[i].title);
        for (int k = 0; k < KINDS; k++) {
            lab_numbers n = ns_of(r, i, k);
            if (n.count == 0)
                report_page_cell(page, "-");
            else
                report_page_cell(page, "%.2f (%.2f, %.2f)", statistics_median(n),
                                 statistics_quantile(n, 0.25), statistics_quantile(n, 0.75));
        }
    }
}

static void deques_chart(const lab_results *r, report_page *page)
{
    chart_bar bars[ROWS * KINDS];
    int n = 0;
    for (int i = 0; i < ROWS; i++) {
        for (int k = 0; k < KINDS; k++) {
            lab_numbers ns = ns_of(r, i, k);
            if (ns.count > 0)
                bars[n++] = (chart_bar){rows[i].title,
                                        kinds[k],
                                        statistics_median(ns),
                                        statistics_quantile(ns, 0.25),
                                        statistics_quantile(ns, 0.75),
                                        colours[k]};
        }
    }
    report_page_chart(page, &(chart){
                                .title = "What the operations of the four deques cost.",
                                .about = "Median time of a push and a pop, or of a stolen item, "
                                         "with quartiles; shorter is better. The scale "
                                         "is logarithmic.",
                                .x = {"nanoseconds", true},
                                .bars = bars,
                                .bar_count = n,
                            });
}

/* ---- text ---- */

/* Compared with the locked deque in this row: 1 faster, -1 slower, 0 cannot tell. */
static int is_faster(const lab_results *r, int of, int kind)
{
    lab_interval i =
        statistics_pairs_interval(deques_rounds(r, of, kind), deques_rounds(r, of, LOCKED));
    return i.high < 1 ? 1 : i.low > 1 ? -1 : 0;
}

static int fastest_deque(const lab_results *r, int of)
{
    int best = LOCKED;
    for (int k = LOCKED + 1; k < KINDS; k++)
        if (statistics_median(ns_of(r, of, k)) < statistics_median(ns_of(r, of, best)))
            best = k;
    return best;
}

static void deques_text(const lab_results *r, report_page *page)
{
    for (int i = 0; i < ROWS; i++) {
        double locked = statistics_median(ns_of(r, i, LOCKED));
        int best = fastest_deque(r, i);
        double ns = statistics_median(ns_of(r, i, best));
        if (isnan(locked) || (i != 0 && i != 1 && i != ROWS - 1))
            continue;
        report_page_text(page,
                         "%s: %.1f ns with a lock; %s is fastest with %.1f ns, %.1f times %s.",
                         rows[i].title, locked, kinds[best], ns, best == LOCKED ? 1 : locked / ns,
                         best == LOCKED ? "as much" : "less");
    }
    report_page_text(
        page,
        "In rows with thieves, owner and thieves contend for the same items without pause. Workers "
        "of Filch do not: few of them search at a time, and they sleep when they find no work.");
}

/* Based on push and pop of the owner without thieves: the lock against the two lock-free kinds
 * of the publications. */
static lab_verdict verdict_of(const lab_results *r)
{
    int bounded = is_faster(r, 0, BOUNDED), batch = is_faster(r, 0, BATCH);
    if (bounded > 0 && batch > 0)
        return LAB_AGREES;
    return bounded < 0 || batch < 0 ? LAB_DIFFERS : LAB_CANNOT_TELL;
}

static void deques_verdict(const lab_results *r, report_page *page)
{
    if (ns_of(r, 0, LOCKED).count == 0 || ns_of(r, 0, BOUNDED).count == 0 ||
        ns_of(r, 0, BATCH).count == 0) {
        report_page_verdict(page, LAB_CANNOT_TELL, "Push and pop were not measured.");
        report_page_summary(page, "Push and pop were not measured.");
        return;
    }
    int won = 0, lost = 0, all = 0;
    for (int k = LOCKED + 1; k < KINDS; k++) {
        for (int i = 0; i < ROWS; i++) {
            int faster = is_faster(r, i, k);
            bool is_told = ns_of(r, i, k).count > 0 && ns_of(r, i, LOCKED).count > 0;
            all += is_told;
            won += is_told && faster > 0;
            lost += is_told && faster < 0;
        }
    }
    double locked = statistics_median(ns_of(r, 0, LOCKED)),
           batch = statistics_median(ns_of(r, 0, BATCH));
    report_page_verdict(
        page, verdict_of(r),
        "A push and a pop without a thief take %.1f ns with the lock, %.1f ns with "
        "bounded, the lock-free deque of the publications, and %.1f ns with batch. In all, the "
        "lock-free kinds are faster than the lock in %d of %d comparisons, slower in %d, "
        "and within the spread in the rest (95 of 100 by drawing again).",
        locked, statistics_median(ns_of(r, 0, BOUNDED)), batch, won, all, lost);
    report_page_summary(page,
                        "push + pop: %.1f ns locked, %.1f ns batch (the default), %.1f times less.",
                        locked, batch, locked / batch);
}

static void deques_describe(const lab_results *r, report_page *page)
{
    deques_chart(r, page);
    deques_table(r, page);
    deques_text(r, page);
    deques_verdict(r, page);
}

const lab_experiment lab_deques = {
    .name = "deques",
    .title = "The four deques",
    .about = "what push, pop and steal cost: locked, bounded, batch, half",
    .published =
        "Two publications build deques. \"Job System 2.0\", part 3, builds one with a lock and "
        "then "
        "without, and finds that its job system becomes 3.38 times faster by that, 1.78 times "
        "for loops. bthread's WorkStealingQueue is the bounded lock-free one; Kuchumov's takes "
        "several items with one steal (batch), Go's run queue half of all (half). The claim "
        "that can be tested here: without a lock, the owner's push and pop cost less.",
    .plan = deques_plan,
    .describe = deques_describe,
};
