/* Collect the parts of a page.  Experiments call this; html.c and text.c write the page. */
#define _GNU_SOURCE
#include "report_page.h"

#include "svg.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

const char *const lab_verdict_names[] = {"cannot tell", "agrees", "differs"};

report_page *report_page_new(const char *name)
{
    report_page *p = calloc(1, sizeof *p);
    if (p && !(p->name = strdup(name))) {
        free(p);
        return NULL;
    }
    return p;
}

static void part_free(report_page_part *part)
{
    free(part->text);
    free(part->about);
    for (int i = 0; i < 2; i++) {
        free(part->drawings[i].script);
        free(part->drawings[i].svg);
    }
    for (int i = 0; i < part->cell_count; i++)
        free(part->cells[i]);
    free(part->cells);
}

void report_page_free(report_page *p)
{
    if (!p)
        return;
    for (int i = 0; i < p->count; i++)
        part_free(&p->parts[i]);
    free(p->name);
    free(p->verdict_text);
    free(p->summary);
    free(p);
}

/* A full page is truncated. */
static report_page_part *page_add_part(report_page *p, report_page_kind kind)
{
    static report_page_part nowhere;
    if (p->count == REPORT_PAGE_PARTS) {
        p->truncated = true;
        return &nowhere;
    }
    report_page_part *part = &p->parts[p->count++];
    part->kind = kind;
    return part;
}

static char *page_format(report_page *p, const char *format, va_list args)
{
    char *text;
    if (vasprintf(&text, format, args) < 0) {
        p->truncated = true;
        return NULL;
    }
    return text;
}

static char *page_copy(report_page *p, const char *text)
{
    char *own = strdup(text ? text : "");
    p->truncated |= !own;
    return own;
}

void report_page_text(report_page *p, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    page_add_part(p, REPORT_PAGE_TEXT)->text = page_format(p, format, args);
    va_end(args);
}

void report_page_verdict(report_page *p, lab_verdict v, const char *format, ...)
{
    va_list args;
    p->verdict = v;
    free(p->verdict_text);
    va_start(args, format);
    p->verdict_text = page_format(p, format, args);
    va_end(args);
}

void report_page_summary(report_page *p, const char *format, ...)
{
    va_list args;
    free(p->summary);
    va_start(args, format);
    p->summary = page_format(p, format, args);
    va_end(args);
}

/* ---- tables ---- */

static void table_add_cell(report_page *p, report_page_part *table, char *text)
{
    char **cells = realloc(table->cells, ((size_t)table->cell_count + 1) * sizeof *cells);
    if (!cells || !text) {
        p->truncated = true;
        free(text);
    }
    if (cells)
        table->cells = cells;
    if (cells && text)
        cells[table->cell_count++] = text;
}

void report_page_table(report_page *p, const char *caption, const char *columns)
{
    report_page_part *table = page_add_part(p, REPORT_PAGE_TABLE);
    table->text = page_copy(p, caption);
    for (const char *c = columns;; c++) {
        size_t length = strcspn(c, "|");
        table_add_cell(p, table, strndup(c, length));
        table->columns++;
        c += length;
        if (*c == '\0')
            return;
    }
}

static void page_add_cell(report_page *p, char *text)
{
    report_page_part *last = p->count > 0 ? &p->parts[p->count - 1] : NULL;
    if (last && last->kind == REPORT_PAGE_TABLE) {
        table_add_cell(p, last, text);
        return;
    }
    free(text);
    p->truncated = true;
}

void report_page_cell(report_page *p, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    page_add_cell(p, page_format(p, format, args));
    va_end(args);
}

void report_page_number(report_page *p, double value, int digits)
{
    if (isfinite(value))
        report_page_cell(p, "%.*f", digits, value);
    else
        report_page_cell(p, "-");
}

/* 1.5, -3, 2.1x, 0.8 to 1.2, and a dash for a missing number. */
static bool is_number_text(const char *cell)
{
    return strcmp(cell, "-") == 0 || (*cell != '\0' && strchr("-+.0123456789", *cell));
}

bool report_page_is_number_column(const report_page_part *table, int column)
{
    for (int i = table->columns + column; i < table->cell_count; i += table->columns)
        if (table->cells[i][0] != '\0' && !is_number_text(table->cells[i]))
            return false;
    return true;
}

/* ---- charts ---- */

void report_page_chart(report_page *p, const chart *c)
{
    static const int widths[2] = {
        [REPORT_PAGE_WIDE] = CHART_WIDE, [REPORT_PAGE_NARROW] = CHART_NARROW};
    if (!chart_has_data(c)) {
        report_page_text(p, "There is nothing to draw for the figure: %s", c->title);
        return;
    }
    report_page_part *part = page_add_part(p, REPORT_PAGE_CHART);
    part->text = page_copy(p, c->title);
    part->about = page_copy(p, c->about);
    for (int i = 0; i < 2; i++) {
        part->drawings[i].script = chart_script(c, widths[i]);
        p->truncated |= !part->drawings[i].script;
    }
}

static const char *part_draw(const report_page *p, report_page_part *part, int number, int i)
{
    static const char *const names[2] = {
        [REPORT_PAGE_WIDE] = "wide", [REPORT_PAGE_NARROW] = "narrow"};
    char id[128];
    const char *drawn;
    report_page_drawing *d = &part->drawings[i];
    const char *why = gnuplot_run(d->script, &drawn);
    if (why)
        return why;
    snprintf(id, sizeof id, "%s-%d-%s", p->name, number, names[i]);
    free(d->svg);
    d->svg = svg_embed(drawn, id, part->text, part->about);
    return d->svg ? NULL : "what gnuplot wrote is not SVG, or is out of memory";
}

const char *report_page_draw(report_page *p)
{
    const char *why = NULL;
    int number = 0;
    for (int i = 0; i < p->count && !why && !p->truncated; i++) {
        if (p->parts[i].kind != REPORT_PAGE_CHART)
            continue;
        number++;
        for (int k = 0; k < 2 && !why; k++)
            why = part_draw(p, &p->parts[i], number, k);
    }
    return why;
}

/* ---- for the writers of text and HTML ---- */

lab_verdict report_page_verdict_of(const report_page *p, const char **text)
{
    *text = p->verdict_text ? p->verdict_text : "";
    return p->verdict;
}

const char *report_page_summary_of(const report_page *p)
{
    return p->summary ? p->summary : "";
}
