/* The workloads, and the runtimes that each is written for. */
#ifndef CLI_CATALOG_H
#define CLI_CATALOG_H

#include <stddef.h>

typedef struct workload {
    const char *name;    /* on the command line */
    const char *program; /* <program>-<runtime> runs it */
    const char *input;   /* argument of its option -i, or NULL */
    int per_call;        /* repetitions in one call of the program */
    const char *about;
} workload;

typedef struct contender {
    const char *name;
    const char *serial; /* the serial program of its own compiler, or NULL */
    const char *about;
} contender;

/* Each is terminated by an entry without a name. */
extern const workload workloads[];
extern const contender runtimes[];

/* Rows and columns of the table of `filch bench jobs`, terminated as above. */
enum { JOB_COLUMNS = 6 };
extern const workload job_rows[];
extern const contender job_columns[JOB_COLUMNS + 1];
extern const char jobs_name[];

/* The name of the serial programs. */
extern const char serial_name[];

/* NULL: unknown name. */
const workload *workload_named(const char *name);
const contender *runtime_named(const char *name);

/* All names, for messages: "fib, tree, ...". */
void list_workloads(char *out, size_t capacity);
void list_runtimes(char *out, size_t capacity);

#endif
