/* Work, span and predicted speed-up as text, as CSV and as a plot. */
#include "gnuplot.h"
#include "scale.h"

#include <errno.h>
#include <filch/runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_time(const char *name, double seconds, const char *about)
{
    static const struct {
        double least, by;
        const char *unit;
    } units[] = {{1, 1, "s "}, {1e-3, 1e3, "ms"}, {1e-6, 1e6, "us"}, {0, 1e9, "ns"}};
    int i = 0;
    while (seconds < units[i].least)
        i++;
    printf("%-22s %9.3f %s   %s\n", name, seconds * units[i].by, units[i].unit, about);
}

static void print_sums(const scale_sums *s)
{
    print_time("work", s->work, "all work, on one worker");
    print_time("span", s->span, "the longest chain of dependent work");
    printf("%-22s %9.2f      work / span: more workers cannot be used\n", "parallelism",
           scale_parallelism(s));
    printf("%-22s %9.3f %s   the span with %.1f us for each piece that can be stolen\n",
           "burdened span", s->burdened_span * (s->burdened_span < 1 ? 1e3 : 1),
           s->burdened_span < 1 ? "ms" : "s ", s->burden * 1e6);
    printf("%-22s %9.2f\n", "burdened parallelism", scale_burdened_parallelism(s));
    printf("%-22s %9.0f      and %.0f other pieces of work\n", "tasks spawned", s->spawns,
           s->pieces);
    if (scale_is_rough(s))
        printf("The pieces are shorter than a read of the clock (%.0f ns): work and span are too "
               "large,\n"
               "and the parallelism is approximate.\n",
               s->clock_read * 1e9);
}

static void print_run(const scale_result *r, const scale_run *run)
{
    printf("%7u %9.2f %9.2f", run->workers, scale_speedup_min(&r->sums, run->workers),
           scale_speedup_max(&r->sums, run->workers));
    if (run->best > 0)
        printf(" %9.2f %12.3f", r->runs[0].median / run->median, run->median);
    printf("\n");
}

void scale_print(const scale_result *r)
{
    print_sums(&r->sums);
    printf("\npredicted speed-up\n%7s %9s %9s", "workers", "at least", "at most");
    if (r->measured)
        printf(" %9s %12s", "measured", "seconds");
    printf("\n");
    for (int i = 0; i < r->count; i++)
        print_run(r, &r->runs[i]);
    if (r->measured && r->runs[r->count - 1].workers > filch_cpu_count())
        printf("This machine has %u CPUs; more workers cannot be faster here.\n",
               filch_cpu_count());
}

const char *scale_write_csv(const scale_result *r, const char *file)
{
    FILE *out = fopen(file, "w");
    if (!out)
        return strerror(errno);
    fprintf(out,
            "workers,work_s,span_s,burdened_span_s,at_least,at_most,measured,median_s,best_s\n");
    for (int i = 0; i < r->count; i++) {
        const scale_run *run = &r->runs[i];
        fprintf(out, "%u,%.9f,%.9f,%.9f,%.4f,%.4f,", run->workers, r->sums.work, r->sums.span,
                r->sums.burdened_span, scale_speedup_min(&r->sums, run->workers),
                scale_speedup_max(&r->sums, run->workers));
        if (run->best > 0)
            fprintf(out, "%.4f,%.9f,%.9f\n", r->runs[0].median / run->median, run->median,
                    run->best);
        else
            fprintf(out, ",,\n");
    }
    return fclose(out) == 0 ? NULL : strerror(errno);
}

static void write_points(FILE *out, const scale_result *r)
{
    fprintf(out, "$runs << END\n");
    for (int i = 0; i < r->count; i++)
        if (r->runs[i].best > 0)
            fprintf(out, "%u %.6f\n", r->runs[i].workers, r->runs[0].median / r->runs[i].median);
    fprintf(out, "END\n");
}

static void write_script(FILE *out, const void *plot, const char *file)
{
    const scale_result *r = plot;
    unsigned most = r->runs[r->count - 1].workers;
    gnuplot_begin(out, file, 800, 560);
    fprintf(out, "set title \"predicted speed-up: parallelism %.1f, burdened %.1f\"\n",
            scale_parallelism(&r->sums), scale_burdened_parallelism(&r->sums));
    fprintf(out, "set xlabel 'workers'\nset ylabel 'speed-up over one worker'\nset key top left\n");
    fprintf(out, "set xrange [1:%u]\nset yrange [0:*]\nset samples 500\n", most > 1 ? most : 2);
    fprintf(out, "most(p) = p < %.9g ? p : %.9g\n", scale_parallelism(&r->sums),
            scale_parallelism(&r->sums));
    fprintf(out,
            "low(p) = %.9g / (%.9g / p + %.9g)\nleast(p) = p <= 1 ? 1 : low(p) < most(p) ? low(p) "
            ": most(p)\n",
            r->sums.work, r->sums.work - r->sums.span, r->sums.burdened_span);
    write_points(out, r);
    fprintf(out,
            "plot '+' using 1:(least($1)):(most($1)) with filledcurves lc rgb '#d3eef2' notitle, "
            "x with lines dt 3 lc rgb '" GNUPLOT_QUIET "' title 'linear', "
            "most(x) with lines lw 2 lc rgb '#0b7285' title 'at most', "
            "least(x) with lines lw 2 dt 2 lc rgb '#0b7285' title 'at least'");
    if (r->measured)
        fprintf(out, ", $runs with linespoints pt 7 lw 2 lc rgb '#c2410c' title 'measured'");
    fprintf(out, "\n");
}

const char *scale_plot(const scale_result *r, const char *file)
{
    return gnuplot_draw(write_script, r, file);
}
