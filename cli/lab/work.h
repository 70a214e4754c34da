/* The measuring: all calls that the logs do not have yet. */
#ifndef CLI_LAB_WORK_H
#define CLI_LAB_WORK_H

#include "log.h"

/* An experiment that is under way. */
typedef struct lab_run {
    const lab_experiment *of;
    lab_plan *plan;
    lab_log log;
    double took[LAB_CASES]; /* of each case, all its calls */
    int calls[LAB_CASES];
} lab_run;

/* Plan it, and open its log.  NULL, or why it cannot be. */
const char *run_begin(lab_run *run, const lab_experiment *e, const lab_options *o);
void run_end(lab_run *run);

/* Make the calls of all of them, one experiment after the other.  EXIT_OK; or EXIT_FAILED where what is measured cannot be
 * kept, which is told.  *failed becomes true where a program failed, which is told, too. */
int work_all(lab_run *runs, int n, const lab_options *o, bool *failed);

#endif
