#define _GNU_SOURCE
#include "draw.h"

#include "escape.h"
#include "ruler.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    ROW = 22,
    GROUP_ROW = 26,
    LETTER = 8, /* the width of one, about */
    AXIS = 46,  /* the height of what is below the frame */
    EDGE = 12,
    HALF_A_LABEL = 24,
    FRAME_WIDE = 270,
    FRAME_NARROW = 210,
};

const char draw_css[] =
    "svg{display:block;max-width:100%;height:auto;color:var(--ink)}\n"
    "svg text{font:13px system-ui,sans-serif;fill:currentColor}\n"
    "svg .quiet{fill:var(--quiet)}svg .strong{font-weight:600}\n"
    "svg .grid{stroke:var(--line);stroke-width:1}svg .axis{stroke:var(--quiet);stroke-width:1}\n"
    "svg .spread{stroke:currentColor;stroke-width:1.5;fill:none}\n"
    "svg .c0{--c:var(--c0)}svg .c1{--c:var(--c1)}svg .c2{--c:var(--c2)}\n"
    "svg .c3{--c:var(--c3)}svg .c4{--c:var(--c4)}svg .c5{--c:var(--c5)}\n"
    "svg .fill{fill:var(--c)}svg .mark{fill:var(--c)}\n"
    "svg .line{stroke:var(--c);stroke-width:2;fill:none}\n"
    "svg .bars{stroke:var(--c);stroke-width:1.5;fill:none}\n"
    "svg .dashes{stroke-dasharray:6 4}\n";

static double most_of(double a, double b)
{
    return a > b ? a : b;
}

static void text(FILE *out, double x, double y, const char *classes, const char *anchor,
                 const char *words)
{
    fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" class=\"%s\" text-anchor=\"%s\">", x, y, classes,
            anchor);
    escape(out, words ? words : "");
    fputs("</text>", out);
}

static void line(FILE *out, double x1, double y1, double x2, double y2, const char *classes)
{
    fprintf(out, "<path d=\"M%.1f %.1fL%.1f %.1f\" class=\"%s\"/>", x1, y1, x2, y2, classes);
}

static void begin(FILE *out, const draw_chart *c, int width, int height, const char *id)
{
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" "
            "height=\"%d\" role=\"img\" aria-labelledby=\"%s-t %s-d\"><title id=\"%s-t\">",
            width, height, width, height, id, id, id);
    escape(out, c->title);
    fprintf(out, "</title><desc id=\"%s-d\">", id);
    escape(out, c->about ? c->about : "");
    fputs("</desc>\n", out);
}

/* The axis below the frame: ticks with lines through the frame, and its title. */
static void axis_below(FILE *out, const draw_axis *axis, const ruler *x, int most, double top,
                       double bottom)
{
    double ticks[RULER_TICKS];
    int n = ruler_ticks(x, most, ticks);
    for (int i = 0; i < n; i++) {
        char label[RULER_LABEL];
        double at = ruler_at(x, ticks[i]);
        ruler_label(ticks[i], label);
        line(out, at, top, at, bottom, "grid");
        text(out, at, bottom + 17, "quiet", "middle", label);
    }
    text(out, (x->from + x->to) / 2, bottom + 36, "quiet", "middle", axis->title);
    fputc('\n', out);
}

/* ---- bars ---- */

static bool begins_group(const draw_chart *c, int i)
{
    const char *group = c->bars[i].group;
    return group && (i == 0 || strcmp(group, c->bars[i - 1].group) != 0);
}

/* The line where bars begin has its name above it. */
static int top_of_bars(const draw_chart *c)
{
    return c->base_name ? 20 : EDGE;
}

static int bottom_of_bars(const draw_chart *c)
{
    int height = top_of_bars(c);
    for (int i = 0; i < c->bar_count; i++)
        height += ROW + (begins_group(c, i) ? GROUP_ROW : 0);
    return height;
}

static double widest_name(const draw_chart *c)
{
    size_t longest = 0;
    for (int i = 0; i < c->bar_count; i++)
        if (strlen(c->bars[i].name) > longest)
            longest = strlen(c->bars[i].name);
    return (double)longest * LETTER;
}

static ruler ruler_of_bars(const draw_chart *c, int width)
{
    enum { FIGURES = 60 }; /* for the value, beyond the longest bar */
    ruler x = ruler_new(c->x.log);
    ruler_take(&x, c->base);
    for (int i = 0; i < c->bar_count; i++) {
        ruler_take(&x, c->bars[i].value);
        ruler_take(&x, c->bars[i].low);
        ruler_take(&x, c->bars[i].high);
    }
    ruler_round(&x, widest_name(c) + EDGE, width - FIGURES);
    return x;
}

static void spread(FILE *out, double x1, double x2, double y)
{
    fprintf(out, "<path d=\"M%.1f %.1fv8M%.1f %.1fh%.1fM%.1f %.1fv8\" class=\"spread\"/>", x1,
            y - 4, x1, y, x2 - x1, x2, y - 4);
}

static void value_beside(FILE *out, const draw_bar *b, double x, double y)
{
    char words[32];
    snprintf(words, sizeof words, b->value >= 100 ? "%.0f" : "%.3g", b->value);
    text(out, x, y, "", "start", words);
}

static void bar(FILE *out, const draw_chart *c, const draw_bar *b, const ruler *x, double y)
{
    double base = ruler_at(x, c->x.log && c->base <= 0 ? x->least : c->base);
    double middle = y + ROW / 2.0, words_at = middle + 4.5;
    text(out, x->from - 8, words_at, "", "end", b->name);
    if (!isfinite(b->value)) {
        text(out, base + 6, words_at, "quiet", "start", "missing");
        return;
    }
    double at = ruler_at(x, b->value), rightmost = most_of(at, base);
    fprintf(out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%d\" class=\"fill c%d\"/>",
            fmin(at, base), y + 3, most_of(fabs(at - base), 1), ROW - 6, b->colour % DRAW_COLOURS);
    if (isfinite(b->low) && isfinite(b->high)) {
        spread(out, ruler_at(x, b->low), ruler_at(x, b->high), middle);
        rightmost = most_of(rightmost, ruler_at(x, b->high));
    }
    value_beside(out, b, rightmost + 6, words_at);
    fputc('\n', out);
}

static void draw_bars(FILE *out, const draw_chart *c, int width, const char *id)
{
    int top = top_of_bars(c), bottom = bottom_of_bars(c);
    ruler x = ruler_of_bars(c, width);
    begin(out, c, width, bottom + AXIS, id);
    axis_below(out, &c->x, &x, width > DRAW_NARROW ? 10 : 5, top, bottom);
    double y = top;
    for (int i = 0; i < c->bar_count; i++) {
        if (begins_group(c, i)) {
            text(out, 0, y + GROUP_ROW - 8, "strong", "start", c->bars[i].group);
            y += GROUP_ROW;
        }
        bar(out, c, &c->bars[i], &x, y);
        y += ROW;
    }
    double base = ruler_at(&x, c->x.log && c->base <= 0 ? x.least : c->base);
    line(out, base, top, base, bottom, "axis");
    if (c->base_name)
        text(out, base, top - 6, "quiet", "middle", c->base_name);
    fputs("</svg>\n", out);
}

/* ---- points and lines ---- */

/* A shape for each series, about the point 0, 0. */
static const char *const shapes[DRAW_COLOURS] = {
    "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z",
    "M-4-4h8v8h-8z",
    "M0-5L5 4h-10z",
    "M0-5.5L5.5 0L0 5.5L-5.5 0z",
    "M0 5L5-4h-10z",
    "M-4.5-3L-3-4.5L0-1.5L3-4.5L4.5-3L1.5 0L4.5 3L3 4.5L0 1.5L-3 4.5L-4.5 3L-1.5 0z",
};

static void shape(FILE *out, int number, double x, double y)
{
    fprintf(out, "<path transform=\"translate(%.1f %.1f)\" d=\"%s\" class=\"mark\"/>", x, y,
            shapes[number % DRAW_COLOURS]);
}

static bool can_be_drawn(const draw_chart *c, const draw_point *p)
{
    return isfinite(p->x) && isfinite(p->y) && (!c->x.log || p->x > 0) && (!c->y.log || p->y > 0);
}

/* Where the words of a legend stand: side by side as far as the width goes. */
typedef struct legend {
    double x, y;
} legend;

static legend after_entry(legend at, const char *name, int width)
{
    double wide = 34 + (double)strlen(name) * LETTER;
    if (at.x > 0 && at.x + wide > width)
        at = (legend){0, at.y + 20};
    return at;
}

/* A series that belongs to the one before it has its colour. */
static int colour_of(const draw_chart *c, int series)
{
    int colour = 0;
    for (int i = 1; i <= series; i++)
        colour += !c->series[i].belongs;
    return colour % DRAW_COLOURS;
}

static void draw_entry(FILE *out, const draw_chart *c, int i, legend at)
{
    const draw_series *s = &c->series[i];
    fprintf(out, "<g class=\"c%d\">", colour_of(c, i));
    if (s->style != DRAW_POINTS)
        line(out, at.x, at.y, at.x + 24, at.y, s->style == DRAW_DASHES ? "line dashes" : "line");
    if (s->style != DRAW_DASHES)
        shape(out, colour_of(c, i), at.x + 12, at.y);
    fputs("</g>", out);
    text(out, at.x + 30, at.y + 4.5, "", "start", s->name);
}

/* Draw it, or with out = NULL only see how far down it goes. */
static double draw_legend(FILE *out, const draw_chart *c, int width)
{
    legend at = {0, EDGE};
    for (int i = 0; i < c->count; i++) {
        const draw_series *s = &c->series[i];
        at = after_entry(at, s->name, width);
        if (out)
            draw_entry(out, c, i, at);
        at.x += 50 + (double)strlen(s->name) * LETTER;
    }
    return at.y + 12;
}

static void take_points(const draw_chart *c, ruler *x, ruler *y)
{
    for (int i = 0; i < c->count; i++) {
        for (int j = 0; j < c->series[i].count; j++) {
            const draw_point *p = &c->series[i].points[j];
            if (!can_be_drawn(c, p))
                continue;
            ruler_take(x, p->x);
            ruler_take(y, p->y);
            ruler_take(y, p->low);
            ruler_take(y, p->high);
        }
    }
    if (c->x.from_zero && !c->x.log)
        ruler_take(x, 0);
    if (c->y.from_zero && !c->y.log)
        ruler_take(y, 0);
}

static void draw_path(FILE *out, const draw_chart *c, const draw_series *s, const ruler *x,
                      const ruler *y)
{
    char begins = 'M';
    fprintf(out, "<path class=\"line%s\" d=\"", s->style == DRAW_DASHES ? " dashes" : "");
    for (int i = 0; i < s->count; i++) {
        const draw_point *p = &s->points[i];
        if (!can_be_drawn(c, p))
            continue;
        fprintf(out, "%c%.1f %.1f", begins, ruler_at(x, p->x), ruler_at(y, p->y));
        begins = 'L';
    }
    fputs("\"/>", out);
}

static void draw_marks(FILE *out, const draw_chart *c, int series, const ruler *x, const ruler *y)
{
    enum { TOO_MANY = 120 }; /* to be told apart: then the line alone is drawn */
    const draw_series *s = &c->series[series];
    for (int i = 0; i < s->count; i++) {
        const draw_point *p = &s->points[i];
        if (!can_be_drawn(c, p))
            continue;
        double at = ruler_at(x, p->x);
        bool has_spread = isfinite(p->low) && isfinite(p->high) && (!c->y.log || p->low > 0);
        if (has_spread)
            fprintf(out, "<path d=\"M%.1f %.1fh6M%.1f %.1fV%.1fM%.1f %.1fh6\" class=\"bars\"/>",
                    at - 3, ruler_at(y, p->low), at, ruler_at(y, p->low), ruler_at(y, p->high),
                    at - 3, ruler_at(y, p->high));
        if (s->style == DRAW_POINTS || s->count <= TOO_MANY)
            shape(out, colour_of(c, series), at, ruler_at(y, p->y));
    }
}

static void draw_one(FILE *out, const draw_chart *c, int i, const ruler *x, const ruler *y)
{
    const draw_series *s = &c->series[i];
    fprintf(out, "<g class=\"c%d\">", colour_of(c, i));
    if (s->style != DRAW_POINTS)
        draw_path(out, c, s, x, y);
    if (s->style != DRAW_DASHES)
        draw_marks(out, c, i, x, y);
    fputs("</g>\n", out);
}

static void axis_beside(FILE *out, const ruler *y, double left, double right)
{
    double ticks[RULER_TICKS];
    int n = ruler_ticks(y, 7, ticks);
    for (int i = 0; i < n; i++) {
        char label[RULER_LABEL];
        double at = ruler_at(y, ticks[i]);
        ruler_label(ticks[i], label);
        line(out, left, at, right, at, "grid");
        text(out, left - 6, at + 4.5, "quiet", "end", label);
    }
    fputc('\n', out);
}

static void draw_lines(FILE *out, const draw_chart *c, int width, const char *id)
{
    bool is_wide = width > DRAW_NARROW;
    double title = draw_legend(NULL, c, width) + 14, top = title + 18;
    double bottom = top + (is_wide ? FRAME_WIDE : FRAME_NARROW);
    ruler x = ruler_new(c->x.log), y = ruler_new(c->y.log);
    take_points(c, &x, &y);
    ruler_round(&x, 48, width - HALF_A_LABEL);
    ruler_round(&y, bottom, top);
    begin(out, c, width, (int)bottom + AXIS, id);
    draw_legend(out, c, width);
    text(out, 0, title, "quiet", "start", c->y.title);
    axis_beside(out, &y, x.from, x.to);
    axis_below(out, &c->x, &x, is_wide ? 10 : 5, top, bottom);
    line(out, x.from, bottom, x.to, bottom, "axis");
    for (int i = 0; i < c->count; i++)
        draw_one(out, c, i, &x, &y);
    fputs("</svg>\n", out);
}

char *draw(const draw_chart *c, int width, const char *id)
{
    char *drawn = NULL;
    size_t length;
    FILE *out = open_memstream(&drawn, &length);
    if (!out)
        return NULL;
    if (c->bar_count > 0)
        draw_bars(out, c, width, id);
    else
        draw_lines(out, c, width, id);
    if (fclose(out) == 0)
        return drawn;
    free(drawn);
    return NULL;
}
