/* The cases of `filch bench fibers`. */
#ifndef CLI_FIBERS_CASES_H
#define CLI_FIBERS_CASES_H

#include "catalog.h"

extern const char fibers_name[];

/* Terminated by an entry without a name. */
extern const workload fibers_workloads[];

/* A row of the table: a metric that the programs of a workload report. */
typedef struct fibers_case {
    const char *workload, *metric, *title, *unit;
    int digits;
    double goal, goal_of_2; /* with one worker and with two; 0: none */
} fibers_case;

/* Terminated by an entry without a title. */
extern const fibers_case fibers_cases[];

/* The runtimes of this workload, Filch first; terminated by an entry without a name. */
const contender *fibers_contenders(const workload *w);

/* The usual number of rounds of a long case; 0: as for all others. */
int fibers_rounds(const workload *w);

/* Its name on the command line. */
const char *fibers_arg(const workload *w);

/* NULL: unknown name. */
const workload *fibers_named(const char *word);

/* All names, for messages. */
void fibers_list(char *out, size_t capacity);

#endif
