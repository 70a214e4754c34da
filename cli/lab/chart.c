/* Write the gnuplot script of a chart.  Called by report_page.c. */
#define _GNU_SOURCE
#include "chart.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROW = 22, X_AXIS = 46, LEGEND_ROW = 20 }; /* pixels */
enum { MARKS_MAX = 120 }; /* a line with more points is drawn without marks */

static bool is_wide(int width)
{
    return width > CHART_NARROW;
}

/* A narrow x axis keeps gnuplot's default labels, powers of ten. */
static void write_log_axis(FILE *out, char axis, int width)
{
    fprintf(out, "set logscale %c\nset autoscale %cfix\n", axis, axis);
    if (axis == 'x' && !is_wide(width))
        return;
    fprintf(out, "set %ctics (1e-4", axis);
    for (int e = -4; e < 7; e++)
        fprintf(out, ", 2e%d, 5e%d, 1e%d", e, e, e + 1);
    fprintf(out, ")\n");
}

/* ---- bars ---- */

static bool has_value(const chart_bar *b)
{
    return isfinite(b->value) && b->value > 0;
}

static bool begins_group(const chart *c, int i)
{
    return i == 0 || strcmp(c->bars[i].group, c->bars[i - 1].group) != 0;
}

/* Each group has a row for its name.  Returns the number of rows. */
static int write_groups(FILE *out, const chart *c)
{
    int row = 0;
    for (int i = 0; i < c->bar_count; i++, row++)
        if (begins_group(c, i)) {
            fprintf(out, "set label ");
            gnuplot_string(out, c->bars[i].group);
            fprintf(out, " at screen 0, first %d font 'sans-serif:Bold' tc rgb '" GNUPLOT_INK "'\n",
                    row++);
        }
    return row;
}

/* Columns: row, value, low, high, colour, label, name. */
static void write_bars(FILE *out, const chart *c)
{
    int row = 0;
    fprintf(out, "$bars << END\n");
    for (int i = 0; i < c->bar_count; i++, row++) {
        const chart_bar *b = &c->bars[i];
        char text[32] = "missing";
        row += begins_group(c, i);
        if (has_value(b))
            snprintf(text, sizeof text, b->value >= 100 ? "%.0f" : "%.3g", b->value);
        fprintf(out, "%d %g %g %g %d %s \"%s\"\n", row, has_value(b) ? b->value : 0,
                isfinite(b->low) ? b->low : b->value, isfinite(b->high) ? b->high : b->value,
                b->colour % GNUPLOT_COLOURS + 1, text, b->name);
    }
    fprintf(out, "END\n");
}

static void write_bar_chart(FILE *out, const chart *c)
{
    static const char ranges[] = "stats $bars using ($2>0?$3:1/0) name 'LOW' nooutput\n"
                                 "stats $bars using ($2>0?$4:1/0) name 'HIGH' nooutput\n"
                                 "low = (base > 0 && base < LOW_min ? base : LOW_min) / 1.2\n"
                                 "high = (base > HIGH_max ? base : HIGH_max) * 1.2\n"
                                 "base = base > 0 ? base : low\n"
                                 "set xrange [low:high]\n";
    static const char plot[] =
        "set arrow from base, graph 0 to base, graph 1 nohead front lc rgb '" GNUPLOT_QUIET "'\n"
        "set border 0\nset tics scale 0\nset ytics tc rgb '" GNUPLOT_INK
        "'\nset grid noytics\nset errorbars 0.8\n"
        "set style fill solid 1 noborder\n"
        "plot $bars using 2:1:(base):2:($1-0.36):($1+0.36):5:ytic(7) with boxxyerror lc variable "
        "notitle, "
        "$bars using 2:1:3:4 with xerrorbars ps 0 lw 1.5 lc rgb '" GNUPLOT_INK "' notitle, "
        "$bars using ($2>0&&$4>base?$4:base):1:6 with labels left offset 0.6,0 "
        "tc rgb '" GNUPLOT_INK "' notitle\n";
    int rows = write_groups(out, c);
    write_bars(out, c);
    fprintf(out, "base = %g\n%s", c->base, ranges);
    if (c->base_name) {
        fprintf(out, "set label ");
        gnuplot_string(out, c->base_name);
        fprintf(out, " at base, graph 1 center offset 0,0.6 tc rgb '" GNUPLOT_QUIET "'\n");
    }
    fprintf(out, "set yrange [%g:-0.6]\nset rmargin 9\n%s", rows - 0.4, plot);
}

/* ---- points and lines ---- */

static bool can_be_drawn(const chart *c, const chart_point *p)
{
    return isfinite(p->x) && isfinite(p->y) && (!c->x.log || p->x > 0) && (!c->y.log || p->y > 0);
}

/* A linear axis begins at 0. */
static bool has_points(const chart *c, const chart_series *s)
{
    for (int i = 0; i < s->count; i++)
        if (can_be_drawn(c, &s->points[i]) && s->points[i].x >= 0 && s->points[i].y >= 0)
            return true;
    return false;
}

/* The datablocks $series0, $series1, ... */
static void write_points(FILE *out, const chart *c, int series)
{
    const chart_series *s = &c->series[series];
    fprintf(out, "$series%d << END\n", series);
    for (int i = 0; i < s->count; i++) {
        const chart_point *p = &s->points[i];
        if (can_be_drawn(c, p))
            fprintf(out, "%g %g %g %g\n", p->x, p->y, isfinite(p->low) ? p->low : p->y,
                    isfinite(p->high) ? p->high : p->y);
    }
    fprintf(out, "END\n");
}

static const char *style_of(const chart_series *s)
{
    if (s->style == CHART_DASHES)
        return "using 1:2 with lines dt 2";
    if (s->count > MARKS_MAX)
        return "using 1:2 with lines";
    return s->style == CHART_LINE ? "using 1:2:3:4 with yerrorlines"
                                  : "using 1:2:3:4 with yerrorbars";
}

static void write_line_chart(FILE *out, const chart *c, int width)
{
    fprintf(out, "set border 1\nset tics scale 0\nset errorbars 0.8\nset tmargin 2\n"
                 "set offsets graph 0.03, graph 0.03, 0, 0\n"
                 "set key below left horizontal Left reverse samplen 2 height 0.5\n");
    if (c->y.log)
        write_log_axis(out, 'y', width);
    fprintf(out, "set label ");
    gnuplot_string(out, c->y.title);
    fprintf(out, " at screen 0, graph 1 offset 0.3,1 tc rgb '" GNUPLOT_QUIET "'\n");
    for (int i = 0; i < c->count; i++)
        write_points(out, c, i);
    if (!c->x.log)
        fprintf(out, "set xrange [0:*]\n");
    if (!c->y.log)
        fprintf(out, "set yrange [0:*]\n");
    fprintf(out, "plot ");
    const char *separator = "";
    for (int i = 0, colour = 0; i < c->count; i++) {
        const chart_series *s = &c->series[i];
        colour += !s->is_fit;
        if (!has_points(c, s))
            continue;
        fprintf(out, "%s$series%d %s lw 1.5 lt %d title ", separator, i, style_of(s),
                (colour - 1) % GNUPLOT_COLOURS + 1);
        gnuplot_string(out, s->name);
        separator = ", ";
    }
    fprintf(out, "\n");
}

/* ---- both ---- */

bool chart_has_data(const chart *c)
{
    for (int i = 0; i < c->bar_count; i++)
        if (has_value(&c->bars[i]))
            return true;
    for (int i = 0; i < c->count; i++)
        if (has_points(c, &c->series[i]))
            return true;
    return false;
}

static int height_of(const chart *c, int width)
{
    int rows = c->bar_count;
    if (rows == 0)
        return (is_wide(width) ? 340 : 270) + (is_wide(width) ? 1 : c->count) * LEGEND_ROW;
    for (int i = 0; i < c->bar_count; i++)
        rows += begins_group(c, i);
    return rows * ROW + X_AXIS + (c->base_name ? ROW : 0);
}

char *chart_script(const chart *c, int width)
{
    char *script = NULL;
    size_t length;
    FILE *out = open_memstream(&script, &length);
    if (!out)
        return NULL;
    gnuplot_begin(out, NULL, width, height_of(c, width));
    fprintf(out, "set xtics offset 0,0.4\nset xlabel offset 0,0.8 tc rgb '" GNUPLOT_QUIET "' ");
    gnuplot_string(out, c->x.title);
    fprintf(out, "\n");
    if (c->x.log)
        write_log_axis(out, 'x', width);
    if (c->bar_count > 0)
        write_bar_chart(out, c);
    else
        write_line_chart(out, c, width);
    if (fclose(out) == 0)
        return script;
    free(script);
    return NULL;
}
