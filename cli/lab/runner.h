/* The measuring: all calls that the logs do not have yet. */
#ifndef CLI_LAB_RUNNER_H
#define CLI_LAB_RUNNER_H

#include "journal.h"

/* An experiment that is under way. */
typedef struct lab_run {
    const lab_experiment *of;
    lab_plan *plan;
    lab_journal journal;
    double took[LAB_CASES]; /* of each case, all its calls */
    int calls[LAB_CASES];
} lab_run;

/* Plan it, and open its journal.  NULL, or why it cannot be. */
const char *lab_run_open(lab_run *run, const lab_experiment *e, const lab_options *o);
void lab_run_close(lab_run *run);

/* Make the calls of all of them, one experiment after the other.  EXIT_OK; or EXIT_FAILED where what is measured cannot be
 * kept, which is told.  *failed becomes true where a program failed, which is told, too. */
int runner_run_all(lab_run *runs, int n, const lab_options *o, bool *failed);

#endif
