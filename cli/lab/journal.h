/* The journal of an experiment, DIR/raw/EXPERIMENT.jsonl: what makes it possible to go on.
 *
 * Its first line is the head: what was asked for ("asked": if any of that changes, it is another run), when, and on which
 * machine.  Each further line is a call, written when it was over:
 *
 *     {"key":"fib/tbb/2#3","took":1.25,"said":{the line of the program},"more":{what was in a file}}
 *     {"key":"fib/tbb/2#4","took":0.01,"failed":"ended with 1"}
 *
 * A line that is not whole, because somebody pulled the plug, is cut off, with all that follows it; that call is made again.  So is
 * one that failed.
 */
#ifndef CLI_LAB_JOURNAL_H
#define CLI_LAB_JOURNAL_H

#include "results.h"

typedef struct lab_journal {
    FILE *file; /* NULL: nothing is kept */
    char *path;
    lab_results *results;
} lab_journal;

/* Open it, or begin it with that head.  NULL, or why not, as a line. */
const char *journal_open(lab_journal *journal, const char *path, const char *head, bool restart);

/* One that is kept in memory alone. */
const char *journal_in_memory(lab_journal *journal, const char *head);

/* What is there, to be told: nothing is changed.  NULL where there is none that can be read. */
lab_results *journal_read(const char *path);

/* Add a line.  NULL, or why it could not be kept. */
const char *journal_append(lab_journal *journal, const char *line);

void journal_close(lab_journal *journal);

#endif
