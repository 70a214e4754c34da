/* The result of an experiment in reading order: text, tables and charts.  Printed as text or as
 * HTML. */
#ifndef CLI_LAB_REPORT_PAGE_H
#define CLI_LAB_REPORT_PAGE_H

#include "chart.h"

#include <stdio.h>

typedef enum lab_verdict {
    LAB_CANNOT_TELL, /* too few samples, too much spread, or nothing to compare with */
    LAB_AGREES,
    LAB_DIFFERS
} lab_verdict;

/* "agrees", "differs", "cannot tell" */
extern const char *const lab_verdict_names[];

typedef struct report_page report_page;

/* name: prefix of the ids of its charts.  NULL: out of memory. */
report_page *report_page_new(const char *name);
void report_page_free(report_page *p);

/* A paragraph. */
void report_page_text(report_page *p, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Whether this run agrees with the publication, and the numbers for it.  Once per page. */
void report_page_verdict(report_page *p, lab_verdict v, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* A one-line summary.  Once per page. */
void report_page_summary(report_page *p, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* A table: column names separated by |, then cells row by row.  Columns of numbers are
 * right-aligned. */
void report_page_table(report_page *p, const char *caption, const char *columns);
void report_page_cell(report_page *p, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void report_page_number(report_page *p, double value, int digits); /* NAN: a dash */

/* A chart. */
void report_page_chart(report_page *p, const chart *c);

/* Draw all charts with gnuplot.  NULL, or why charts are missing. */
const char *report_page_draw(report_page *p);

/* ---- for the writers of text and HTML ---- */

typedef enum report_page_kind {
    REPORT_PAGE_TEXT,
    REPORT_PAGE_TABLE,
    REPORT_PAGE_CHART
} report_page_kind;

enum { REPORT_PAGE_WIDE, REPORT_PAGE_NARROW };

/* A chart for wide or for narrow pages. */
typedef struct report_page_drawing {
    char *script; /* for gnuplot */
    char *svg;    /* an element <svg>; NULL: not drawn */
} report_page_drawing;

typedef struct report_page_part {
    report_page_kind kind;
    char *text;                      /* a paragraph, a caption, or the title of a chart */
    char *about;                     /* of a chart: a description for readers who cannot see it */
    report_page_drawing drawings[2]; /* of a chart: REPORT_PAGE_WIDE and REPORT_PAGE_NARROW */
    char **cells;                    /* of a table; the first `columns` are its header */
    int columns, cell_count;
} report_page_part;

enum { REPORT_PAGE_PARTS = 64 };

struct report_page {
    char *name;
    report_page_part parts[REPORT_PAGE_PARTS];
    int count;
    bool truncated; /* something is missing because of lack of memory */
    lab_verdict verdict;
    char *verdict_text, *summary; /* NULL: not set */
};

/* The verdict and the summary; an empty text if there is none. */
lab_verdict report_page_verdict_of(const report_page *p, const char **text);
const char *report_page_summary_of(const report_page *p);

/* Is this a column of numbers? */
bool report_page_is_number_column(const report_page_part *table, int column);

/* As text. */
void report_page_print(const report_page *p, FILE *out);

#endif
