/* Plots the ratios to the baseline: a panel for each number of workers, a group of bars for each
 * workload, a colour for each runtime.  The scale is logarithmic.  Bars begin at 1, the
 * baseline: up is slower, down is faster. */
#include "gnuplot.h"
#include "print.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const int colours[] = {0, 1, 3, 4}; /* of gnuplot_colours */
enum { BAR_COLOURS = sizeof colours / sizeof colours[0] };

enum { PANELS_MAX = 16, PANEL_HEIGHT = 420, WIDTH = 1200 };

/* ---- the data ---- */

const plot_of plot_of_workloads = {
    runtimes, "Time / time of the serial program (median; lower is better)", "serial", true};
const plot_of plot_of_jobs = {&job_columns[1],
                              "Time / time with a lock and malloc (median; lower is better)",
                              "basic", false};

typedef struct picture {
    const plot_of *of;
    const series *all;
    int n;
    unsigned panels[PANELS_MAX]; /* numbers of workers */
    int panel_count;
    const workload *groups[64];
    int group_count;
    double lowest, highest; /* of the ratios */
} picture;

/* The baseline itself is the line at 1. */
static bool is_drawn(const series *s)
{
    return s->serial != s && isfinite(series_median_ratio(s));
}

static void add_panel(picture *p, unsigned workers)
{
    for (int i = 0; i < p->panel_count; i++)
        if (p->panels[i] == workers)
            return;
    if (p->panel_count < PANELS_MAX)
        p->panels[p->panel_count++] = workers;
}

static void picture_measure(picture *p)
{
    p->lowest = 0.5;
    p->highest = 2;
    for (int i = 0; i < p->n; i++) {
        const series *s = &p->all[i];
        if (p->group_count == 0 || p->groups[p->group_count - 1] != s->workload)
            p->groups[p->group_count++] = s->workload;
        if (!is_drawn(s))
            continue;
        add_panel(p, s->workers);
        p->lowest = fmin(p->lowest, series_median_ratio(s));
        p->highest = fmax(p->highest, series_median_ratio(s));
    }
}

static int group_of(const picture *p, const workload *w)
{
    int i = 0;
    while (p->groups[i] != w)
        i++;
    return i;
}

static int bar_count(const picture *p)
{
    int n = 0;
    while (p->of->bars[n].name)
        n++;
    return n;
}

/* ---- the script ---- */

/* A group has a bar for each runtime, and a gap. */
static double bar_width(const picture *p)
{
    return 0.8 / bar_count(p);
}

static double middle_of(const picture *p, const series *s, int of_runtime)
{
    return group_of(p, s->workload) + (of_runtime - (bar_count(p) - 1) / 2.0) * bar_width(p);
}

/* Is this a bar of this runtime in this panel? */
static bool is_bar(const picture *p, const series *s, int of_runtime, unsigned workers)
{
    return is_drawn(s) && s->workers == workers &&
           strcmp(s->runtime, p->of->bars[of_runtime].name) == 0;
}

/* gnuplot fails for a series without data. */
static bool has_bars(const picture *p, int of_runtime, unsigned workers)
{
    for (int i = 0; i < p->n; i++)
        if (is_bar(p, &p->all[i], of_runtime, workers))
            return true;
    return false;
}

/* Columns: left edge, right edge, ratio. */
static void write_data(FILE *out, const picture *p, int of_runtime, unsigned workers)
{
    double half = 0.46 * bar_width(p);
    fprintf(out, "$d%d << EOD\n", of_runtime);
    for (int i = 0; i < p->n; i++) {
        const series *s = &p->all[i];
        if (!is_bar(p, s, of_runtime, workers))
            continue;
        double x = middle_of(p, s, of_runtime);
        fprintf(out, "%.4f %.4f %.4f\n", x - half, x + half, series_median_ratio(s));
    }
    fprintf(out, "EOD\n");
}

/* The ratio beyond the end of each bar. */
static void write_labels(FILE *out, const picture *p, int of_runtime, unsigned workers)
{
    for (int i = 0; i < p->n; i++) {
        const series *s = &p->all[i];
        if (!is_bar(p, s, of_runtime, workers))
            continue;
        double x = middle_of(p, s, of_runtime);
        double ratio = series_median_ratio(s);
        fprintf(out, "set label '%.2f' at %.4f,%.4f %s rotate by 90 offset 0,%s font 'sans,9'\n",
                ratio, x, ratio, ratio < 1 ? "right" : "left", ratio < 1 ? "-0.4" : "0.4");
    }
}

/* The name of each group, with the input of the workload on a second line. */
static void write_group_names(FILE *out, const picture *p)
{
    fprintf(out, "set xtics (");
    for (int i = 0; i < p->group_count; i++) {
        const workload *w = p->groups[i];
        fprintf(out, "%s\"%s\\n%s\" %d", i > 0 ? ", " : "", w->program, w->input ? w->input : "",
                i);
    }
    fprintf(out, ")\n");
}

static void write_head(FILE *out, const picture *p, const char *file)
{
    gnuplot_begin(out, file, WIDTH, PANEL_HEIGHT * p->panel_count + 40);
    fprintf(out, "set multiplot layout %d,1 title \"%s\\n\"\n", p->panel_count, p->of->title);
    fprintf(out, "set logscale y\nset style fill solid 1.0 noborder\nset grid noxtics\n");
    fprintf(out, "set xtics scale 0\n");
    fprintf(out, "set ytics (0.1, 0.25, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)\n");
    fprintf(out, "set yrange [%.3f:%.3f]\nset xrange [-0.6:%.1f]\n", p->lowest / 2.6,
            p->highest * 3.5, p->group_count - 0.4);
    fprintf(out, "set key above right horizontal samplen 1\nset lmargin 9\nset bmargin 3.5\n");
    write_group_names(out, p);
}

/* Bars from 1 to the ratio. */
static void write_panel(FILE *out, const picture *p, unsigned workers)
{
    fprintf(out, "unset label\nset ylabel '%u worker%s'\n", workers, workers == 1 ? "" : "s");
    for (int r = 0; p->of->bars[r].name; r++) {
        write_data(out, p, r, workers);
        write_labels(out, p, r, workers);
    }
    fprintf(out, "plot ");
    for (int r = 0; p->of->bars[r].name; r++)
        if (has_bars(p, r, workers))
            fprintf(out,
                    "$d%d using (($1+$2)/2):3:1:2:($3<1?$3:1):($3<1?1:$3) with boxxyerror "
                    "lc rgb '%s' title '%s', \\\n",
                    r, gnuplot_colours[colours[r % BAR_COLOURS]], p->of->bars[r].name);
    fprintf(out, "1 with lines lc rgb '" GNUPLOT_INK "' lw 1.5 title '%s'", p->of->base);
    if (p->of->base_is_serial && workers > 1)
        fprintf(out, ", %.6f with lines dt 2 lc rgb '" GNUPLOT_INK "' title 'serial / %u'",
                1.0 / workers, workers);
    fprintf(out, "\n");
}

static void write_script(FILE *out, const void *plot, const char *file)
{
    const picture *p = plot;
    write_head(out, p, file);
    for (int i = 0; i < p->panel_count; i++)
        write_panel(out, p, p->panels[i]);
    fprintf(out, "unset multiplot\n");
}

const char *draw_plot(const series *all, int n, const plot_of *of, const char *file)
{
    picture p = {.of = of, .all = all, .n = n};
    picture_measure(&p);
    if (p.panel_count == 0)
        return "there is nothing to draw";
    return gnuplot_draw(write_script, &p, file);
}
