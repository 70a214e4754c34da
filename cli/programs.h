/* The programs that do the work: where they are, which are missing, and what a call of one says. */
#ifndef CLI_PROGRAMS_H
#define CLI_PROGRAMS_H

#include "catalog.h"
#include "child.h"

#include <stdbool.h>
#include <stdint.h>

enum { PROGRAM_PATH = 4096, SAMPLES_MAX = 64, LONGEST_SIZE_WORD = 32 };
enum { FIGURES_MAX = 8, FIGURE_NAME = 16 };

/* What to run.  The runtime by its name, because serial programs have one too. */
typedef struct call {
    const workload *workload;
    const char *runtime;
    unsigned workers;
    int repetitions;
    const char *size; /* NULL: the usual one */
    bool quick;       /* the size for a quick look */
    long seconds;     /* it may take */
} call;

/* What a program said of its run. */
typedef struct report {
    long size, peak_kb;
    uint64_t spawns; /* 0: depends on the run */
    int64_t result;
    double samples[SAMPLES_MAX]; /* seconds */
    int count;
    /* Objects of JSON within the child's text, or NULL.  Of each figure there are as many values as samples. */
    const char *counters, *figures;
} report;

/* Is there such a program? */
bool program_exists(const workload *w, const char *runtime);

/* Where it is, or would be; empty where that is too long for a path. */
void program_path(const workload *w, const char *runtime, char *out, size_t capacity);

/* Why there is none, as the build noted it. */
void program_why_missing(const workload *w, const char *runtime, char *out, size_t capacity);

/* Call it.  NULL; or why there is no report.  *usage_error tells that the program did not accept what it was
 * asked for.  c is where its text is kept. */
const char *program_call(const call *what, child *c, report *r, bool *is_usage_error);

#endif
