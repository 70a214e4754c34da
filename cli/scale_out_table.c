/* The table of `filch bench scale-out`: times by number of workers, compared with the best of those
 * that have a CPU for each worker. */
#include "print.h"
#include "scale_out_rows.h"

#include <math.h>
#include <stdio.h>

/* Wall time and CPU time of a series, medians and best. */
typedef struct times {
    double wall, wall_best, cpu, cpu_best;
} times;

static times times_of(const series *s)
{
    const scale_out_row *r = scale_out_row_of(s->workload);
    if (s->failed)
        return (times){NAN, NAN, NAN, NAN};
    return (times){
        r->wall ? series_metric_median(s, r->wall) : series_median(s) * 1e3,
        r->wall ? series_metric_best(s, r->wall) : series_best(s) * 1e3,
        series_metric_median(s, r->cpu),
        series_metric_best(s, r->cpu),
    };
}

static times ratios_of(times t, times base)
{
    return (times){t.wall / base.wall, t.wall_best / base.wall_best, t.cpu / base.cpu,
                   t.cpu_best / base.cpu_best};
}

/* Of n series of one workload, the times of the one with the lowest median wall time among those
 * with a CPU for each worker.  NAN if all of them failed. */
static times base_of(const series *s, int n, unsigned cpus)
{
    times base = {NAN, NAN, NAN, NAN};
    for (int i = 0; i < n; i++) {
        times t = times_of(&s[i]);
        if (s[i].workers <= cpus && (isnan(base.wall) || t.wall < base.wall))
            base = t;
    }
    return base;
}

/* ---- the highest ratio ---- */

typedef struct peak {
    double ratio;
    const series *s;
} peak;

static void peak_update(peak *p, double ratio, const series *s)
{
    if (!isnan(ratio) && (!p->s || ratio > p->ratio))
        *p = (peak){ratio, s};
}

static void peak_print(const char *name, const peak *p)
{
    if (p->s)
        printf("  %-4s %.2f: %s with %u workers\n", name, p->ratio, scale_out_arg(p->s->workload),
               p->s->workers);
}

/* The highest ratios of the medians, of series with more workers than CPUs. */
typedef struct peaks {
    peak wall, cpu;
} peaks;

static void print_peaks(const peaks *p, unsigned cpus)
{
    if (!p->wall.s) {
        printf("No ratio is for more workers than CPUs (%u).\n\n", cpus);
        return;
    }
    printf("Highest ratios of medians with more workers than CPUs (%u):\n", cpus);
    peak_print("wall", &p->wall);
    peak_print("CPU", &p->cpu);
    printf("\n");
}

/* ---- rows ---- */

static void print_head(void)
{
    printf("%-20s %7s  %8s  %8s  %6s  %6s  %8s  %8s  %6s  %6s\n", "workload", "workers", "wall",
           "best", "ratio", "best", "CPU", "best", "ratio", "best");
}

static int digits_of(double value)
{
    return value < 100 ? 2 : 1;
}

static void print_row(const char *title, unsigned workers, times t, times ratios)
{
    printf("%-20s %7u", title, workers);
    if (isnan(t.wall)) {
        printf("  %8s\n", "failed");
        return;
    }
    print_cell(t.wall, 8, digits_of(t.wall));
    print_cell(t.wall_best, 8, digits_of(t.wall_best));
    print_cell(ratios.wall, 6, 2);
    print_cell(ratios.wall_best, 6, 2);
    print_cell(t.cpu, 8, digits_of(t.cpu));
    print_cell(t.cpu_best, 8, digits_of(t.cpu_best));
    print_cell(ratios.cpu, 6, 2);
    print_cell(ratios.cpu_best, 6, 2);
    printf("\n");
}

/* The n series of one workload. */
static void print_rows(const series *s, int n, unsigned cpus, peaks *p)
{
    times base = base_of(s, n, cpus);
    for (int i = 0; i < n; i++) {
        times t = times_of(&s[i]), ratios = ratios_of(t, base);
        print_row(i == 0 ? scale_out_row_of(s->workload)->title : "", s[i].workers, t, ratios);
        if (s[i].workers > cpus) {
            peak_update(&p->wall, ratios.wall, &s[i]);
            peak_update(&p->cpu, ratios.cpu, &s[i]);
        }
    }
    printf("\n");
}

static void print_legend(void)
{
    printf("wall, CPU: medians of the wall time and of the CPU time of all threads, and the best.  "
           "ratio, best:\nto the row with the lowest median wall time of those that have a CPU for "
           "each worker.  http: CPU\ntime of the server; wrk runs on the same CPUs.\n");
}

void print_scale_out(const series *all, int n, unsigned cpus, const char *missing)
{
    peaks p = {{0, NULL}, {0, NULL}};
    print_head();
    for (int first = 0, rows; first < n; first += rows) {
        for (rows = 1; first + rows < n && all[first + rows].workload == all[first].workload;)
            rows++;
        print_rows(&all[first], rows, cpus, &p);
    }
    print_peaks(&p, cpus);
    print_legend();
    if (missing[0] != '\0')
        printf("\n%s", missing);
}
