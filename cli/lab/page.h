/* What an experiment tells, in the order in which it is read; shown as text or as HTML. */
#ifndef CLI_LAB_PAGE_H
#define CLI_LAB_PAGE_H

#include "chart.h"

#include <stdio.h>

typedef enum lab_verdict {
    LAB_CANNOT_TELL, /* too few samples, too much spread, or nothing to compare with */
    LAB_AGREES,
    LAB_DIFFERS
} lab_verdict;

/* "agrees", "differs", "cannot tell" */
extern const char *const lab_verdict_words[];

typedef struct lab_page lab_page;

/* name: the ids of its figures begin with it.  NULL where memory is short. */
lab_page *page_new(const char *name);
void page_free(lab_page *p);

/* A paragraph. */
void page_say(lab_page *p, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Whether this run agrees with what the seed found, and by which numbers: once for a page. */
void page_verdict(lab_page *p, lab_verdict v, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* A line that is enough for who reads but one: once for a page. */
void page_summary(lab_page *p, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A table: the names of its columns with | between them; then its cells, row by row.  A column of numbers stands right. */
void page_table(lab_page *p, const char *caption, const char *columns);
void page_cell(lab_page *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
void page_number(lab_page *p, double value, int digits); /* a dash where it is none */

/* A figure. */
void page_figure(lab_page *p, const chart *c);

/* Draw all figures with gnuplot.  NULL, or why figures are missing. */
const char *page_draw(lab_page *p);

/* ---- for those who show it ---- */

typedef enum page_kind { PAGE_SAYS, PAGE_TABLE, PAGE_FIGURE } page_kind;

enum { PAGE_WIDE, PAGE_NARROW };

/* A figure for wide or for narrow pages. */
typedef struct page_drawing {
    char *script; /* for gnuplot */
    char *svg;    /* an element <svg>; NULL: not drawn */
} page_drawing;

typedef struct page_part {
    page_kind kind;
    char *text;               /* a paragraph, a caption, or the title of a figure */
    char *about;              /* of a figure: a description for readers who cannot see it */
    page_drawing drawings[2]; /* of a figure: PAGE_WIDE and PAGE_NARROW */
    char **cells;             /* of a table; the first `columns` are its head */
    int columns, cell_count;
} page_part;

int page_count(const lab_page *p);
const page_part *page_at(const lab_page *p, int i);
lab_verdict page_verdict_of(const lab_page *p, const char **text);
const char *page_summary_of(const lab_page *p);

/* Is this column one of numbers? */
bool page_is_number_column(const page_part *table, int column);

/* Was memory short while it was made?  Then something is missing. */
bool page_is_torn(const lab_page *p);

/* As text. */
void page_print(const lab_page *p, FILE *out);

#endif
