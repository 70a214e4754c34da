/* The programs of bench/: paths, missing programs, calls and their reports. */
#ifndef CLI_PROGRAMS_H
#define CLI_PROGRAMS_H

#include "catalog.h"
#include "child.h"

#include <stdbool.h>
#include <stdint.h>

enum { PROGRAM_PATH = 4096, SAMPLES_MAX = 64, LONGEST_SIZE_WORD = 32 };
enum { METRICS_MAX = 8, METRIC_NAME_SIZE = 16 };

/* A call of a program.  runtime is a name, because serial programs have one, too. */
typedef struct call {
    const workload *workload;
    const char *runtime;
    unsigned workers;
    int repetitions;
    const char *size; /* NULL: the default */
    bool quick;       /* the small size */
    long seconds;     /* time limit */
} call;

/* What a program reported. */
typedef struct report {
    long size, peak_kb;
    uint64_t spawns; /* 0: depends on the run */
    int64_t result;
    double samples[SAMPLES_MAX]; /* seconds */
    int count;
    /* JSON objects within the child's output, or NULL.  Each metric has one value per sample. */
    const char *counters, *metrics;
} report;

/* Does the program exist? */
bool program_exists(const workload *w, const char *runtime);

/* Its path, whether or not it exists; empty if the path is too long. */
void program_path(const workload *w, const char *runtime, char *out, size_t capacity);

/* The path of another program beside them.  Returns: does it exist? */
bool program_find(const char *name, char *path, size_t capacity);

/* Why it does not exist, as recorded by the build. */
void program_why_missing(const workload *w, const char *runtime, char *out, size_t capacity);

/* Call the program.  Returns NULL, or why there is no report.  *is_usage_error: the program
 * rejected its arguments.  c keeps its output. */
const char *program_call(const call *what, child *c, report *r, bool *is_usage_error);

#endif
