/* Figures as SVG: bars that lie, one below the other, or points and lines in a frame.  The colours are those of the page, in
 * the light and in the dark (draw_css); who does not see them tells series apart by words, marks and dashes. */
#ifndef CLI_LAB_DRAW_H
#define CLI_LAB_DRAW_H

#include <stdbool.h>

enum { DRAW_WIDE = 760, DRAW_NARROW = 330, DRAW_COLOURS = 6 };

/* A bar.  Those of one group stand together under its name.  low and high: the spread, or NAN. */
typedef struct draw_bar {
    const char *group, *name;
    double value, low, high; /* a value that is NAN is said to be missing */
    int colour;              /* 0 to DRAW_COLOURS - 1 */
} draw_bar;

typedef struct draw_point {
    double x, y, low, high; /* low and high: the spread of y, or NAN */
} draw_point;

typedef enum draw_style { DRAW_POINTS, DRAW_LINE, DRAW_DASHES } draw_style;

/* Points, points with lines between them, or a line alone, as for a fit. */
typedef struct draw_series {
    const char *name;
    const draw_point *points;
    int count;
    draw_style style;
    bool belongs; /* to the one before it, as a fit does: it has the same colour */
} draw_series;

typedef struct draw_axis {
    const char *title;
    bool log;
    bool from_zero; /* not for logarithms */
} draw_axis;

/* Either bars along the axis x, or series. */
typedef struct draw_chart {
    const char *title;
    const char *about; /* for who does not see it */
    draw_axis x, y;
    const draw_bar *bars;
    int bar_count;
    double base;           /* where bars begin; 0 of logarithms: at the left */
    const char *base_name; /* what the line there stands for, or NULL */
    const draw_series *series;
    int count;
} draw_chart;

/* An element <svg>, to be freed, or NULL where memory is short.  Its ids begin with `id`, so that many can be in one page. */
char *draw(const draw_chart *c, int width, const char *id);

/* What has to be in the style of a page with figures. */
extern const char draw_css[];

#endif
