/* A chart of the report: horizontal bars on a logarithmic axis, or points and lines in a frame.
 * gnuplot draws it. */
#ifndef CLI_LAB_CHART_H
#define CLI_LAB_CHART_H

#include "gnuplot.h"

#include <stdbool.h>

enum { CHART_WIDE = 760, CHART_NARROW = 330 };

/* Bars of one group are drawn together under its name.  A bar whose value is NAN is marked as
 * missing. */
typedef struct chart_bar {
    const char *group, *name;
    double value, low, high; /* low and high: the spread, or NAN */
    int colour;              /* index into gnuplot_colours */
} chart_bar;

typedef struct chart_point {
    double x, y, low, high; /* low and high: the spread of y, or NAN */
} chart_point;

typedef enum chart_style {
    CHART_POINTS,
    CHART_LINE, /* points joined by a line */
    CHART_DASHES
} chart_style;

typedef struct chart_series {
    const char *name;
    const chart_point *points;
    int count;
    chart_style style;
    bool is_fit; /* of the series before it: has the same colour */
} chart_series;

typedef struct chart_axis {
    const char *title;
    bool log; /* false: linear, from 0 */
} chart_axis;

/* Either bars along the x axis, or series. */
typedef struct chart {
    const char *title;
    const char *about; /* a description for readers who cannot see the chart */
    chart_axis x, y;
    const chart_bar *bars;
    int bar_count;
    double base;           /* where bars begin; 0: at the left edge */
    const char *base_name; /* label of the line there, or NULL */
    const chart_series *series;
    int count;
} chart;

/* Does it have anything to draw? */
bool chart_has_data(const chart *c);

/* The gnuplot script that draws it at this width in pixels, to be freed; NULL: out of memory. */
char *chart_script(const chart *c, int width);

#endif
