/* Cost of the deques: push + pop by the owner while 0, 1 or 3 thieves steal, and a steal.
 *
 * All kinds run in every round, so that noise affects all alike.  Reported are the best and the
 * median round, and the median of the ratios to a plain array in the same round.
 */
#include "array_baseline.h"
#include "cases.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KINDS = 5, MAX_ROUNDS = 101 };

static const fi_deque_ops *const kinds[KINDS] = {
    &array_baseline, &fi_deque_locked, &fi_deque_bounded, &fi_deque_batch, &fi_deque_half};

typedef struct row {
    const char *name, *unit;
    deque_case what;
    int thieves;
} row;

static const row rows[] = {
    {"push+pop", "ns/pair", CASE_PAIRS, 0},
    {"push+pop", "ns/pair", CASE_PAIRS, 1},
    {"push+pop", "ns/pair", CASE_PAIRS, 3},
    {"64 pushes, 64 pops", "ns/pair", CASE_RUNS, 0},
    {"64 pushes, 64 pops", "ns/pair", CASE_RUNS, 1},
    {"64 pushes, 64 pops", "ns/pair", CASE_RUNS, 3},
    {"steal, undisturbed", "ns/item", CASE_STEALS, 0},
};
enum { ROWS = sizeof rows / sizeof rows[0] };

typedef struct result {
    double sample[MAX_ROUNDS], ratio[MAX_ROUNDS];
    unsigned long stolen;
    int n;
} result;

static result results[ROWS][KINDS];

static bool applies(const row *m, int kind)
{
    return kinds[kind] != &array_baseline || m->thieves == 0;
}

static double sample(const row *m, const fi_deque_ops *kind, long n, unsigned long *stolen)
{
    case_result of = case_run(kind, m->what, m->thieves, n);
    if (m->thieves > 0)
        *stolen += (unsigned long)of.stolen;
    return of.ns;
}

/* The time of the plain array in the same round.  It always runs without thieves. */
static double baseline_ns(int m, int round)
{
    while (rows[m].thieves > 0)
        m--;
    return results[m][0].sample[round];
}

static void measure_round(int round, long n)
{
    for (int m = 0; m < ROWS; m++)
        for (int k = 0; k < KINDS; k++) {
            if (!applies(&rows[m], k))
                continue;
            result *r = &results[m][k];
            r->sample[round] = sample(&rows[m], kinds[k], n, &r->stolen);
            r->ratio[round] = r->sample[round] / baseline_ns(m, round);
            r->n = round + 1;
        }
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(const double *values, int n)
{
    double sorted[MAX_ROUNDS];
    memcpy(sorted, values, (size_t)n * sizeof *values);
    qsort(sorted, (size_t)n, sizeof *sorted, by_value);
    return sorted[n / 2];
}

static double best(const double *values, int n)
{
    double min = values[0];
    for (int i = 1; i < n; i++)
        min = values[i] < min ? values[i] : min;
    return min;
}

static void print_table(void)
{
    printf("%-20s %8s  %-8s %9s %9s %9s %9s\n", "", "thieves", "kind", "best", "median", "/ plain",
           "stolen");
    for (int m = 0; m < ROWS; m++)
        for (int k = 0; k < KINDS; k++) {
            const result *r = &results[m][k];
            if (r->n == 0)
                continue;
            printf("%-20s %8d  %-8s %6.2f ns %6.2f ns %8.2fx %9lu\n", rows[m].name, rows[m].thieves,
                   kinds[k]->name, best(r->sample, r->n), median(r->sample, r->n),
                   median(r->ratio, r->n), r->stolen);
        }
}

static void print_json(void)
{
    for (int m = 0; m < ROWS; m++)
        for (int k = 0; k < KINDS; k++) {
            const result *r = &results[m][k];
            if (r->n == 0)
                continue;
            printf("{\"bench\":\"deque\",\"case\":\"%s\",\"unit\":\"%s\",\"kind\":\"%s\","
                   "\"thieves\":%d,\"best\":%.3f,\"median\":%.3f,\"ratio_to_plain\":%.3f,"
                   "\"stolen\":%lu,\"samples\":[",
                   rows[m].name, rows[m].unit, kinds[k]->name, rows[m].thieves,
                   best(r->sample, r->n), median(r->sample, r->n), median(r->ratio, r->n),
                   r->stolen);
            for (int i = 0; i < r->n; i++)
                printf("%s%.3f", i ? "," : "", r->sample[i]);
            printf("]}\n");
        }
}

static long number(const char *text, long min, long max)
{
    char *end;
    long n = strtol(text ? text : "", &end, 10);
    if (!text || end == text || *end || n < min || n > max) {
        fprintf(stderr, "deque_bench: a number from %ld to %ld is expected, not \"%s\"\n", min, max,
                text ? text : "");
        exit(2);
    }
    return n;
}

int main(int argc, char **argv)
{
    bool json = false;
    long rounds = 15, n = 100000;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--json") == 0) {
            json = true;
        } else if (strcmp(argv[i], "--rounds") == 0) {
            rounds = number(argv[++i], 1, MAX_ROUNDS);
        } else if (strcmp(argv[i], "--pairs") == 0) {
            n = number(argv[++i], CASE_RUN, 100000000);
        } else {
            bool help = strcmp(argv[i], "--help") == 0;
            fprintf(help ? stdout : stderr, "usage: deque_bench [--json] [--rounds N] [--pairs N]\n"
                                            "Measure the four deques and a plain array.  --json: "
                                            "print one JSON line per row, with "
                                            "all samples.\n");
            return help ? 0 : 2;
        }
    }
    for (int round = 0; round < rounds; round++)
        measure_round(round, n);
    if (json)
        print_json();
    else
        print_table();
    return 0;
}
