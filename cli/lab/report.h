/* DIR/report.html: one file that needs no other, of all experiments that DIR/raw has logs of.  It is made of these logs alone. */
#ifndef CLI_LAB_REPORT_H
#define CLI_LAB_REPORT_H

#include "results.h"

/* An experiment, what is in its journal, and what it tells of that. */
typedef struct lab_section {
    const lab_experiment *of;
    lab_results *results;
    report_page *page;
} lab_section;

/* Write it, and its figures as files of their own.  NULL, or why not.  *undrawn: NULL, or why figures are missing from it. */
const char *report_write(const char *folder, const char **undrawn);

/* The page itself. */
void report_html(FILE *out, const lab_section *sections, int n);

/* The command that measures it again. */
void report_command(const lab_section *s, FILE *out);

#endif
