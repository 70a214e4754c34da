/* The lab: experiments that reproduce published figures, and compare the results with the
 * publication.
 *
 * An experiment is two functions and a few texts.
 *
 *   plan      adds *cases*, each a call of a program of bench/ with settings of the runtime, under
 *             a unique name such as "fib/tbb/2".  The runner calls all cases once in each round, so
 *             that disturbances of the machine affect all of them.
 *   describe  writes tables, charts, text and a verdict.  Its only input is the results in the
 *             journal.
 *
 *     static void tree_plan(const lab_options *o, lab_plan *p)
 *     {
 *         for (int k = 1; k <= 64; k *= 2) {
 *             lab_case *c = lab_add(p, &tree, "filch", o->workers, "tree/%d", k);
 *             lab_set(c, "FILCH_STEAL_BATCH=%d", k);
 *         }
 *     }
 *
 *     static void tree_describe(const lab_results *r, report_page *page)
 *     {
 *         lab_numbers steals = lab_values(r, LAB_COUNTER, "steals_single", "tree/%d", 4);
 *         report_page_text(page, "With k = 4 there were %.0f steals.", statistics_median(steals));
 *     }
 *
 * To add an experiment: a file with a lab_experiment, its name in experiments.[ch], and an entry in
 * filch(1).
 *
 * The journal DIR/raw/EXPERIMENT.jsonl keeps each line of JSON that a program prints, with the name
 * of the case, the round and the time, so that an interrupted run continues (journal.h).  If a
 * program writes a file instead (lab_output_file), the case's `analyse` reads it and adds to that
 * line the data that describe needs.
 */
#ifndef CLI_LAB_LAB_H
#define CLI_LAB_LAB_H

#include "catalog.h"
#include "report_page.h"
#include "statistics.h"

#include <stdbool.h>
#include <stdio.h>

enum { LAB_CASES = 1024, LAB_NAME = 64, LAB_SETTINGS = 6, LAB_SETTING = 64, LAB_ARGS = 4 };

/* The arguments of `filch lab`. */
typedef struct lab_options {
    bool quick;   /* small sizes */
    bool restart; /* discard the journal */
    int repeat;   /* rounds; 0: default of the experiment */
    unsigned workers;
    long seconds;    /* time limit of one call */
    const char *out; /* the directory, or NULL */
    /* The arguments after the experiment's name, terminated by NULL. */
    const char *args[LAB_ARGS + 1];
} lab_options;

/* ---- the plan ---- */

typedef struct lab_case {
    char name[LAB_NAME];
    const workload *workload; /* per_call repetitions in each call */
    const char *runtime;
    unsigned workers;
    char size[32]; /* empty: the default, or the small one */
    char settings[LAB_SETTINGS][LAB_SETTING];
    int setting_count;
    /* The setting that names the file the program writes, and the name of that file; or NULL. */
    const char *file_setting;
    char file[LAB_NAME];
    /* Called after each successful call.  Writes a JSON object to `out` with the data of the
     * file that describe needs.  Returns NULL, or why it failed. */
    const char *(*analyse)(const struct lab_case *c, const char *path, FILE *out);
    bool failed; /* not called again */
} lab_case;

/* plan sets rounds and seconds; --repeat overrides rounds. */
typedef struct lab_plan {
    lab_case cases[LAB_CASES];
    int count, rounds;
    double seconds;      /* estimated time of one call; 0: unknown */
    char left_out[1024]; /* lines "name: reason" */
} lab_plan;

/* Add a case.  The format makes its name, of letters, digits and . - _ / only.  The workload
 * must outlive the plan. */
lab_case *lab_add(lab_plan *p, const workload *w, const char *runtime, unsigned workers,
                  const char *name, ...) __attribute__((format(printf, 5, 6)));

/* Does the program exist?  If not, the reason goes into the report. */
bool lab_has(lab_plan *p, const workload *w, const char *runtime);

void lab_size(lab_case *c, long size);
void lab_set(lab_case *c, const char *setting, ...) __attribute__((format(printf, 2, 3)));
void lab_output_file(lab_case *c, const char *setting, const char *file,
                     const char *(*analyse)(const lab_case *c, const char *path, FILE *out));

/* ---- the results ---- */

typedef struct lab_results lab_results;

typedef enum lab_value {
    LAB_SAMPLES, /* seconds */
    /* The median of each call's samples, or of its values of a metric.  Compare calls of the same
     * round by these: repetitions within a call are not independent. */
    LAB_MEDIANS,
    LAB_METRIC,  /* a member of "metrics", such as cpu_ns */
    LAB_COUNTER, /* sum over all workers per repetition, one for each call */
    LAB_MEMBER   /* "size", "spawns", "peak_kb": one for each call */
} lab_value;

/* Values of the case with this name, one call after the other; empty for an unknown case.  what:
 * the name of the metric, counter or member, or NULL.  They live as long as the results. */
lab_numbers lab_values(const lab_results *r, lab_value kind, const char *what, const char *name,
                       ...) __attribute__((format(printf, 4, 5)));

/* What `analyse` wrote in the last round, as JSON, or NULL. */
const char *lab_analysis(const lab_results *r, const char *name, ...)
    __attribute__((format(printf, 2, 3)));

/* The options of the run, from the journal. */
bool lab_was_quick(const lab_results *r);
unsigned lab_workers(const lab_results *r);
unsigned lab_cpus(const lab_results *r); /* usable by the programs */
int lab_rounds(const lab_results *r);
const char *lab_args(const lab_results *r); /* separated by spaces, or "" */

/* ---- experiments ---- */

typedef struct lab_experiment {
    const char *name, *title;
    const char *about;     /* one line for the help */
    const char *published; /* what the publication did and found, in a few sentences */
    void (*plan)(const lab_options *o, lab_plan *p);
    void (*describe)(const lab_results *r, report_page *page);
    const char *args; /* names of its arguments in the help; NULL: it takes none */
    const char *(*check_args)(
        const lab_options *o); /* why the arguments are wrong, or NULL.  Optional */
} lab_experiment;

/* Terminated by NULL. */
extern const lab_experiment *const lab_experiments[];

#endif
