/* What can be run: the workloads, and the runtimes that each is written for. */
#ifndef CLI_CATALOG_H
#define CLI_CATALOG_H

#include <stddef.h>

typedef struct workload {
    const char *name;    /* as people say it */
    const char *program; /* <program>-<runtime> runs it */
    const char *input;   /* what the program is told by -i, or NULL */
    int per_call;        /* repetitions in one call of the program: more where one is very short */
    const char *about;
} workload;

typedef struct contender {
    const char *name;
    const char *serial; /* the serial program of the compiler that it has to itself, or NULL */
    const char *about;
} contender;

/* Each ended by one without a name. */
extern const workload workloads[];
extern const contender runtimes[];

/* The table of `filch bench jobs`: its rows and its columns, ended as above. */
enum { JOB_COLUMNS = 6 };
extern const workload job_rows[];
extern const contender job_columns[JOB_COLUMNS + 1];
extern const char jobs_name[];

/* Those that the others are compared with are no runtimes. */
extern const char serial_name[];

/* NULL where there is none of that name. */
const workload *workload_named(const char *name);
const contender *runtime_named(const char *name);

/* All names, for messages: "fib, tree, ...". */
void list_workloads(char *out, size_t capacity);
void list_runtimes(char *out, size_t capacity);

#endif
