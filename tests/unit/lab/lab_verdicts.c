/* The verdicts of the lab's experiments peers, jobs and deques.  Made-up results lead to each
 * verdict, and no results to "cannot tell". */
#include "check.h"
#include "lab/experiments.h"
#include "lab/results.h"

#include <stdarg.h>

static lab_results *results;

static void begin_results(int workers)
{
    char head[256];
    snprintf(head, sizeof head,
             "{\"options\":{\"args\":\"\",\"quick\":false,\"rounds\":1,\"workers\":%d}}", workers);
    results_free(results);
    results = results_new(head);
    CHECK(results != NULL);
}

/* Add three calls of the program with this name.  Each took about `ms` milliseconds, and its metric
 * "ns" has the same number. */
static void add_calls(double ms, const char *format, ...)
{
    char name[LAB_NAME], line[512];
    va_list args;
    va_start(args, format);
    vsnprintf(name, sizeof name, format, args);
    va_end(args);
    for (int i = 0; i < 3; i++) {
        double about = ms * (0.99 + 0.01 * i);
        snprintf(line, sizeof line,
                 "{\"key\":\"%s#%d\",\"seconds\":1,\"report\":{\"size\":35,\"samples\":[%.9f],"
                 "\"metrics\":{\"ns\":[%.6f]}}}",
                 name, i, about * 1e-3, about);
        CHECK_INT(results_add(results, line), 0);
    }
}

static lab_verdict verdict_of(const lab_experiment *e, char *out, size_t size)
{
    const char *reason;
    report_page *page = report_page_new(e->name);
    e->describe(results, page);
    CHECK(!page->truncated);
    lab_verdict v = report_page_verdict_of(page, &reason);
    snprintf(out, size, "%s", reason);
    CHECK(report_page_summary_of(page)[0] != '\0');
    CHECK(!strstr(out, "nan") && !strstr(report_page_summary_of(page), "nan"));
    report_page_free(page);
    return v;
}

static char text[1024];

/* ---- peers ---- */

static const char *const workload_names[] = {"fib",          "knapsack",         "matmul",
                                             "sort-uniform", "sort-exponential", "tree"};

/* The times of Filch are these multiples of TBB's. */
static void set_peers(const double ratios[6])
{
    begin_results(2);
    for (int i = 0; i < 6; i++) {
        for (int workers = 1; workers <= 2; workers++) {
            add_calls(100, "%s/tbb/%d", workload_names[i], workers);
            add_calls(100 * ratios[i], "%s/filch/%d", workload_names[i], workers);
        }
        add_calls(90, "%s/serial/1", workload_names[i]);
    }
}

static void peers_verdicts(void **state)
{
    (void)state;
    begin_results(2);
    CHECK_INT(verdict_of(&lab_peers, text, sizeof text), LAB_CANNOT_TELL);
    set_peers((const double[]){0.1, 0.5, 1, 1, 1.5, 1});
    CHECK_INT(verdict_of(&lab_peers, text, sizeof text), LAB_AGREES);
    CHECK(strstr(text,
                 "faster than TBB on 2 of 6 workloads (0.100 to 1.50 of its time), slower on 1"));
    set_peers((const double[]){0.1, 0.5, 1, 1, 3, 1});
    CHECK_INT(verdict_of(&lab_peers, text, sizeof text), LAB_DIFFERS);
    CHECK(strstr(text, "more than twice as slow on 1"));
    set_peers((const double[]){1.5, 1.5, 1.5, 1.5, 1.5, 1.5});
    CHECK_INT(verdict_of(&lab_peers, text, sizeof text), LAB_DIFFERS);
    set_peers((const double[]){1, 1, 1, 1, 1, 1});
    CHECK_INT(verdict_of(&lab_peers, text, sizeof text), LAB_CANNOT_TELL);
}

/* ---- jobs ---- */

static void set_jobs(const double ms[2][3])
{
    static const char *const rows[] = {"single", "for"};
    static const char *const columns[] = {"basic", "allocator", "lock-free"};
    begin_results(2);
    for (int r = 0; r < 2; r++)
        for (int c = 0; c < 3; c++)
            for (int workers = 1; workers <= 2; workers++)
                add_calls(ms[r][c], "%s/%s/%d", rows[r], columns[c], workers);
    for (int r = 0; r < 2; r++)
        add_calls(0.1, "%s/filch/2", rows[r]);
}

static void jobs_verdicts(void **state)
{
    (void)state;
    begin_results(2);
    CHECK_INT(verdict_of(&lab_jobs, text, sizeof text), LAB_CANNOT_TELL);
    set_jobs(
        (const double[2][3]){{18.5, 9.9, 2.93}, {5.3, 1.35, 0.76}}); /* the published figures */
    CHECK_INT(verdict_of(&lab_jobs, text, sizeof text), LAB_AGREES);
    CHECK(strstr(text, "4 of 4 steps"));
    CHECK(
        strstr(text, "6.31 for single jobs (published 6.31), 6.97 for the loop (published 6.97)"));
    set_jobs((const double[2][3]){{18.5, 9.9, 12}, {5.3, 1.35, 0.76}});
    CHECK_INT(verdict_of(&lab_jobs, text, sizeof text), LAB_DIFFERS);
    set_jobs((const double[2][3]){{18.5, 9.9, 9.9}, {5.3, 1.35, 0.76}});
    CHECK_INT(verdict_of(&lab_jobs, text, sizeof text), LAB_CANNOT_TELL);
}

/* ---- deques ---- */

static void set_deques(double locked, double bounded, double batch)
{
    begin_results(2);
    add_calls(locked, "pairs/locked/1");
    add_calls(bounded, "pairs/bounded/1");
    add_calls(batch, "pairs/batch/1");
}

static void deques_verdicts(void **state)
{
    (void)state;
    begin_results(2);
    CHECK_INT(verdict_of(&lab_deques, text, sizeof text), LAB_CANNOT_TELL);
    set_deques(30, 15, 10);
    CHECK_INT(verdict_of(&lab_deques, text, sizeof text), LAB_AGREES);
    CHECK(strstr(text, "faster than the lock in 2 of 2 comparisons, slower in 0"));
    set_deques(30, 15, 40);
    CHECK_INT(verdict_of(&lab_deques, text, sizeof text), LAB_DIFFERS);
    set_deques(30, 15, 30);
    CHECK_INT(verdict_of(&lab_deques, text, sizeof text), LAB_CANNOT_TELL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK_TEST(peers_verdicts),
        CHECK_TEST(jobs_verdicts),
        CHECK_TEST(deques_verdicts),
    };
    int failed = CHECK_RUN(tests);
    results_free(results);
    return failed;
}
