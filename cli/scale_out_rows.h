/* The workloads of `filch bench scale-out`. */
#ifndef CLI_SCALE_OUT_ROWS_H
#define CLI_SCALE_OUT_ROWS_H

#include "catalog.h"

extern const char scale_out_name[];

/* Terminated by an entry without a name. */
extern const workload scale_out_workloads[];

/* How the table shows a workload.  The metrics are in the unit of the title. */
typedef struct scale_out_row {
    const char *arg; /* its name on the command line */
    const char *title;
    const char *wall, *cpu; /* metrics; wall is NULL: the samples, in milliseconds */
} scale_out_row;

/* The row of one of scale_out_workloads. */
const scale_out_row *scale_out_row_of(const workload *w);

/* Its name on the command line. */
const char *scale_out_arg(const workload *w);

/* NULL: unknown name. */
const workload *scale_out_named(const char *word);

/* All names, for messages. */
void scale_out_list(char *out, size_t capacity);

/* The numbers of workers that are measured by default, terminated by 0. */
extern const unsigned scale_out_workers[];

#endif
