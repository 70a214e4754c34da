/* Print the table of `filch bench`. */
#include "print.h"

#include <math.h>
#include <stdio.h>

void print_cell(double value, int width, int digits)
{
    if (isnan(value))
        printf("  %*s", width, "-");
    else
        printf("  %*.*f", width, digits, value);
}

static void print_head(void)
{
    printf("%-16s %10s  %-12s %7s  %10s  %10s  %8s  %8s  %8s  %7s\n", "workload", "size", "runtime",
           "workers", "median ms", "best ms", "/ serial", "best", "ns/spawn", "steals");
}

static void print_row(const series *s, bool is_first)
{
    printf("%-16s ", is_first ? s->workload->name : "");
    if (is_first && s->count > 0)
        printf("%10ld", s->last.size);
    else
        printf("%10s", "");
    printf("  %-12s %7u", s->runtime, s->workers);
    if (s->failed) {
        printf("  %10s\n", "failed");
        return;
    }
    print_cell(series_median(s) * 1e3, 10, 2);
    print_cell(series_best(s) * 1e3, 10, 2);
    print_cell(series_median_ratio(s), 8, 2);
    print_cell(series_best_ratio(s), 8, 2);
    print_cell(series_ns_per_spawn(s), 8, 2);
    print_cell(series_steals(s), 7, 0);
    printf("\n");
}

void print_table(const series *all, int n)
{
    print_head();
    for (int i = 0; i < n; i++) {
        bool is_first = i == 0 || all[i - 1].workload != all[i].workload;
        if (is_first && i > 0)
            printf("\n");
        print_row(&all[i], is_first);
    }
    printf("\n/ serial: ratio of the medians to the serial program of the same compiler; best: "
           "ratio of the best times.\nns/spawn: best time / number of spawns; a serial program "
           "calls instead.  steals: successful steals\nper repetition.\n");
}
