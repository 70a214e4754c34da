/* Verdicts of the experiments of Kuchumov's paper on made-up results. */
#include "check.h"

#include "lab/experiments.h"
#include "lab/results.h"

#include <math.h>
#include <stdarg.h>

enum { ROUNDS = 6 };

static lab_results *results;

static void begin(const char *words, int rounds)
{
    char head[256];
    snprintf(
        head, sizeof head,
        "{\"options\":{\"args\":\"%s\",\"quick\":true,\"rounds\":%d,\"workers\":2,\"cpus\":2}}",
        words, rounds);
    results_free(results);
    results = results_new(head);
    CHECK(results != NULL);
}

static char report[2048];

static lab_verdict verdict_of(const lab_experiment *e)
{
    const char *text;
    report_page *page = report_page_new(e->name);
    e->describe(results, page);
    CHECK(!page->truncated);
    lab_verdict v = report_page_verdict_of(page, &text);
    snprintf(report, sizeof report, "%s", text);
    CHECK(report_page_summary_of(page)[0] != '\0');
    CHECK(!strstr(text, "nan") && !strstr(report_page_summary_of(page), "nan"));
    report_page_free(page);
    return v;
}

/* ---- steals ---- */

static const int widths[] = {30, 45, 60, 80, 100, 120, 150};
static const int batches[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64};

/* Add calls with this number of steals, plus or minus one, and this time. */
static void stolen(double steals, double ms, int rounds, const char *format, ...)
{
    char name[LAB_NAME], line[512];
    va_list args;
    va_start(args, format);
    vsnprintf(name, sizeof name, format, args);
    va_end(args);
    for (int i = 0; i < rounds; i++) {
        double n = floor(steals) + i % 3 - 1;
        snprintf(line, sizeof line,
                 "{\"key\":\"%s#%d\",\"seconds\":1,\"report\":{\"samples\":[%.9f],\"counters\":{"
                 "\"deque_steals_single\":[%.0f,0],\"deque_steals_multiple\":[1,0]}}}",
                 name, i, (ms + (i * 7 + (int)steals) % 5 * 0.1) * 1e-3, n);
        CHECK_INT(results_add(results, line), 0);
    }
}

static double tasks_of(int width)
{
    double w = width;
    return w + w * w + w * w * w;
}

/* of_tasks(million tasks), of_k(k): steals; ms(k): the time. */
static void steals(double (*of_tasks)(double), double (*of_k)(int), double (*ms)(int), int rounds)
{
    static const unsigned workers[] = {2, 4};
    static const char *const policies[] = {"eager", "lazy"};
    begin("", rounds);
    for (int w = 0; w < 2; w++)
        for (int p = 0; p < 2; p++) {
            for (int i = 0; i < 7; i++)
                stolen(of_tasks(tasks_of(widths[i]) * 1e-6), 5, rounds, "tasks/%d/%s/%u", widths[i],
                       policies[p], workers[w]);
            for (int i = 0; i < 12; i++)
                stolen(of_k(batches[i]), ms(batches[i]), rounds, "k/%d/%s/%u", batches[i],
                       policies[p], workers[w]);
        }
}

static double on_a_line(double millions)
{
    return 100 + 500 * millions;
}

static double bent(double millions)
{
    return millions < 0.05 ? 100 : 500;
}

static double level(double millions)
{
    (void)millions;
    return 100;
}

static double u_shape(int k)
{
    return 1000.0 / k + 5 * k;
}

static double slope(int k)
{
    return 1000.0 / k;
}

static double same_time(int k)
{
    (void)k;
    return 5;
}

static double slower(int k)
{
    return 5 + 0.1 * k;
}

static void results_like_the_paper(void **state)
{
    (void)state;
    steals(on_a_line, u_shape, same_time, ROUNDS);
    CHECK_INT(verdict_of(&lab_steals), LAB_AGREES);
    CHECK(strstr(report, "eager, 4 workers") != NULL);
    CHECK(strstr(report, "grow linearly") != NULL);
    CHECK(strstr(report, "falls, then rises") != NULL);
    CHECK(strstr(report, "there is none") != NULL);
}

static void results_unlike_the_paper(void **state)
{
    (void)state;
    steals(bent, u_shape, same_time, ROUNDS);
    CHECK_INT(verdict_of(&lab_steals), LAB_DIFFERS);
    CHECK(strstr(report, "grow, but not linearly") != NULL);
    steals(level, u_shape, same_time, ROUNDS);
    CHECK_INT(verdict_of(&lab_steals), LAB_DIFFERS);
    CHECK(strstr(report, "do not grow significantly") != NULL);
    steals(on_a_line, slope, same_time, ROUNDS);
    CHECK_INT(verdict_of(&lab_steals), LAB_DIFFERS);
    CHECK(strstr(report, "does not rise significantly") != NULL);
    steals(on_a_line, u_shape, slower, ROUNDS);
    CHECK_INT(verdict_of(&lab_steals), LAB_DIFFERS);
    CHECK(strstr(report, "so there is one") != NULL);
}

static void too_few_steals(void **state)
{
    (void)state;
    steals(on_a_line, u_shape, same_time, 1);
    CHECK_INT(verdict_of(&lab_steals), LAB_CANNOT_TELL);
    begin("", ROUNDS);
    CHECK_INT(verdict_of(&lab_steals), LAB_CANNOT_TELL);
}

/* ---- probabilities ---- */

static void sampled(const char *name, const char *p, int steps)
{
    char line[1024];
    for (int workers = 1; workers <= 2; workers++) {
        for (int i = 0; i < 2; i++) {
            char deque[256];
            snprintf(
                deque, sizeof deque,
                "{\"p\":[%s],\"beyond\":0,\"steps\":%d,\"up\":10,\"down\":5,\"top\":5,\"mean\":1,"
                "\"largest\":2,\"curve\":[0,1,2]}",
                p, steps);
            snprintf(
                line, sizeof line,
                "{\"key\":\"%s/%s/%d#0\",\"seconds\":1,\"report\":{\"samples\":[1]},\"analysis\":{"
                "\"ticks_per_second\":1000,\"ticks\":%d,\"samples\":10,\"dropped\":0,\"grid\":100,"
                "\"min_gap\":1,\"median_gap\":2,\"unseen\":0,\"deques\":[%s%s%s]}}",
                name, i == 0 ? "eager" : "lazy", workers, steps * 100, deque,
                workers == 2 ? "," : "", workers == 2 ? deque : "");
            CHECK_INT(results_add(results, line), 0);
        }
    }
}

static void transitions_like_the_paper(void **state)
{
    (void)state;
    begin("", 1);
    sampled("matmul", "0.000005,0.0977,0.8046,0.0977,0.000008", 1000);
    sampled("knapsack", "0,0.0282798,0.9434404,0.0282795,0.0000002", 1000);
    CHECK_INT(verdict_of(&lab_probabilities), LAB_AGREES);
}

static void transitions_unlike_the_paper(void **state)
{
    (void)state;
    begin("", 1);
    sampled("matmul", "0.2,0.1,0.4,0.1,0.2", 1000);
    sampled("knapsack", "0,0.0282798,0.9434404,0.0282795,0.0000002", 1000);
    CHECK_INT(verdict_of(&lab_probabilities), LAB_DIFFERS);
    begin("fib", 1);
    sampled("fib", "0,0.4,0.2,0.4,0", 1000);
    CHECK_INT(verdict_of(&lab_probabilities), LAB_DIFFERS);
}

static void no_samples(void **state)
{
    (void)state;
    begin("", 1);
    CHECK_INT(verdict_of(&lab_probabilities), LAB_CANNOT_TELL);
    begin("fib 250", 1);
    sampled("fib", "0,0,0,0,0", 0);
    CHECK_INT(verdict_of(&lab_probabilities), LAB_CANNOT_TELL);
    results_free(results);
    results = NULL;
}

CHECK_MAIN(results_like_the_paper, results_unlike_the_paper, too_few_steals,
           transitions_like_the_paper, transitions_unlike_the_paper, no_samples)
