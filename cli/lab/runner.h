/* The runner: makes all calls that the journals do not have yet. */
#ifndef CLI_LAB_RUNNER_H
#define CLI_LAB_RUNNER_H

#include "journal.h"

/* A running experiment. */
typedef struct lab_run {
    const lab_experiment *of;
    lab_plan *plan;
    lab_journal journal;
    double seconds[LAB_CASES]; /* seconds of all calls of each case */
    int calls[LAB_CASES];
} lab_run;

/* Plan the experiment and open its journal.  Returns NULL, or why it failed. */
const char *lab_run_open(lab_run *run, const lab_experiment *e, const lab_options *o);
void lab_run_close(lab_run *run);

/* Make all calls, one experiment after the other.  Returns EXIT_OK, or EXIT_FAILED if a journal
 * cannot be written.  *failed: a program failed.  Both after a message. */
int runner_run_all(lab_run *runs, int n, const lab_options *o, bool *failed);

#endif
