/* DIR/report.html: a self-contained page of all experiments with a journal in DIR/raw, built
 * from these journals only. */
#ifndef CLI_LAB_REPORT_H
#define CLI_LAB_REPORT_H

#include "results.h"

/* An experiment, its results and its page. */
typedef struct lab_section {
    const lab_experiment *of;
    lab_results *results;
    report_page *page;
} lab_section;

/* Write the report, and its charts as files.  Returns NULL, or why it failed.  *undrawn: NULL,
 * or why charts are missing. */
const char *report_write(const char *folder, const char **undrawn);

/* Write the page. */
void report_html(FILE *out, const lab_section *sections, int n);

/* Write the command that repeats the measurement. */
void report_command(const lab_section *s, FILE *out);

#endif
