/* The journal of an experiment, DIR/raw/EXPERIMENT.jsonl, from which an interrupted run continues.
 *
 * The first line is the header: the options (a run with other options is another run), the time and the
 * machine.  Each further line is a call, written when the call has returned:
 *
 *     {"key":"fib/tbb/2#3","seconds":1.25,"report":{output of the program},"analysis":{of its file}}
 *     {"key":"fib/tbb/2#4","seconds":0.01,"failed":"exited with 1"}
 *
 * A line that is incomplete because of a crash is removed together with all later lines, and its
 * call is repeated.  Calls that failed are repeated, too.
 */
#ifndef CLI_LAB_JOURNAL_H
#define CLI_LAB_JOURNAL_H

#include "results.h"

typedef struct lab_journal {
    FILE *file; /* NULL: in memory only */
    char *path;
    lab_results *results;
} lab_journal;

/* Open the journal, or start it with this header.  Returns NULL, or why it failed. */
const char *journal_open(lab_journal *journal, const char *path, const char *head, bool restart);

/* A journal in memory only. */
const char *journal_in_memory(lab_journal *journal, const char *head);

/* Read a journal without changing it.  NULL: not readable. */
lab_results *journal_read(const char *path);

/* Append a line.  Returns NULL, or why it failed. */
const char *journal_append(lab_journal *journal, const char *line);

void journal_close(lab_journal *journal);

#endif
