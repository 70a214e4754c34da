/* The table of `filch bench jobs`: a row for each number of workers, a column for each step from
 * lock and malloc to Filch; below, the published times. */
#include "print.h"

#include <stdio.h>

enum { LOCK_FREE = 2 }; /* the last column that was published */

/* In "Job System 2.0", part 3, for each row, in milliseconds. */
static const double published[][LOCK_FREE + 1] = {{18.5, 9.9, 2.93}, {5.3, 1.35, 0.76}};

static void print_head(void)
{
    printf("%-14s %7s %10s", "", "workers", job_columns[0].name);
    for (int i = 1; i < JOB_COLUMNS; i++) {
        char name[32];
        snprintf(name, sizeof name, "%s%s", i <= LOCK_FREE ? "+ " : "", job_columns[i].name);
        printf("   %11s %7s %7s", name, "gain", "step");
    }
    printf("\n");
}

/* The column that a step is relative to: the one to the left, for Filch the last of the
 * classical ones. */
static int column_before(int column)
{
    return column > LOCK_FREE ? LOCK_FREE : column - 1;
}

static void print_times(const double *ms, int n)
{
    printf(" %10.3f", ms[0]);
    for (int i = 1; i < n; i++)
        printf("   %11.3f %6.2fx %6.2fx", ms[i], ms[0] / ms[i], ms[column_before(i)] / ms[i]);
    printf("\n");
}

static void print_row(const char *name, const series *s, double (*of)(const series *s))
{
    double ms[JOB_COLUMNS];
    printf("  %-12s %7u", name, s->workers);
    for (int i = 0; i < JOB_COLUMNS; i++) {
        ms[i] = of(&s[i]) * 1e3;
        if (s[i].failed) {
            printf("  %s failed\n", s[i].runtime);
            return;
        }
    }
    print_times(ms, JOB_COLUMNS);
}

static void published_row(const series *s)
{
    printf("  %-12s %7s", "published ms", "");
    print_times(published[s->workload - job_rows], LOCK_FREE + 1);
}

/* The number of jobs is what a program reported. */
static void print_title(const series *s)
{
    printf("%s: ", s->workload->name);
    for (int i = 0; i < JOB_COLUMNS; i++) {
        if (s[i].count > 0) {
            printf("%ld ", (long)s[i].last.spawns);
            break;
        }
    }
    printf("%s\n", s->workload->about);
}

static void print_legend(void)
{
    printf("\ngain: speed-up over %s.  step: over the column to the left, for Filch over "
           "%s.\npublished: \"Job System 2.0\", part 3, on another "
           "machine; 65,000 single jobs.\n\n",
           job_columns[0].name, job_columns[LOCK_FREE].name);
    for (int i = 0; i < JOB_COLUMNS; i++)
        printf("  %-10s %s\n", job_columns[i].name, job_columns[i].about);
}

void print_jobs(const series *all, int n)
{
    print_head();
    for (int i = 0; i < n; i += JOB_COLUMNS) {
        const series *s = &all[i];
        if (i == 0 || s[-1].workload != s->workload)
            print_title(s);
        print_row("median ms", s, series_median);
        print_row("best ms", s, series_best);
        if (i + JOB_COLUMNS == n || s[JOB_COLUMNS].workload != s->workload)
            published_row(s);
    }
    print_legend();
}
