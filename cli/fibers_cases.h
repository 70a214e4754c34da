/* What is in the table of `filch bench fibers`. */
#ifndef CLI_FIBERS_CASES_H
#define CLI_FIBERS_CASES_H

#include "catalog.h"

extern const char fibers_name[];

/* Ended by one without a name. */
extern const workload fibers_workloads[];

/* A row of the table: a figure that programs tell of a workload. */
typedef struct fibers_case {
    const char *workload, *figure, *title, *unit;
    int digits;
    double goal, goal_of_2; /* with one worker and with two; 0: none */
} fibers_case;

/* Ended by one without a title. */
extern const fibers_case fibers_cases[];

/* Who is measured with this workload; ended by one without a name.  The first is what the others stand beside. */
const contender *fibers_contenders(const workload *w);

/* As people say it. */
const char *fibers_arg(const workload *w);

/* NULL where there is none of that name. */
const workload *fibers_named(const char *word);

/* All of them, for messages. */
void fibers_list(char *out, size_t capacity);

#endif
