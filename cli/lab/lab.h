/* The lab: experiments that draw the figures again, and say in words what they show.
 *
 * An experiment is two functions and a few words about it.
 *
 *   plan   says what to run: *cases*, each a call of a program of bench/ with settings of the runtime, under a name of its
 *          own such as "fib/tbb/2".  The frame makes the calls, a round of all cases after the other, so that what disturbs the
 *          machine disturbs all alike.
 *   tell   says what came out: tables, figures, words and a verdict.  It sees nothing but the results, which are what is in the journal.
 *
 *     static void plan(const lab_options *o, lab_plan *p)
 *     {
 *         for (int k = 1; k <= 64; k *= 2) {
 *             lab_case *c = lab_add(p, &tree, "filch", o->workers, "tree/%d", k);
 *             lab_set(c, "FILCH_STEAL_BATCH=%d", k);
 *         }
 *     }
 *
 *     static void tell(const lab_results *r, report_page *page)
 *     {
 *         lab_numbers steals = lab_counters(r, "steals_single", "tree/%d", 4);
 *         report_page_text(page, "With k = 4 there were %.0f steals.", statistics_median(steals));
 *     }
 *
 * Who adds one: a file here with a lab_experiment in it, its name in experiments.[ch], and its row in filch(1).
 *
 * What a program says in its line of JSON is kept as it is, in the journal DIR/raw/EXPERIMENT.jsonl, with the case's name, the
 * round and the time it took: so a run that was ended goes on where it was (log.h).  What a program leaves in a file instead
 * (lab_leaves) is read by the case's `after`, which adds to that line what tell needs of it.
 */
#ifndef CLI_LAB_LAB_H
#define CLI_LAB_LAB_H

#include "catalog.h"
#include "report_page.h"
#include "statistics.h"

#include <stdbool.h>
#include <stdio.h>

enum { LAB_CASES = 1024, LAB_NAME = 64, LAB_SETTINGS = 6, LAB_SETTING = 64, LAB_ARGS = 4 };

/* The words of `filch lab`. */
typedef struct lab_options {
    bool quick;   /* small sizes */
    bool restart; /* forget what is in the journal */
    int repeat;   /* rounds; 0: what the experiment thinks right */
    unsigned workers;
    long seconds;    /* one call may take */
    const char *out; /* the folder, or NULL */
    /* What follows the experiment's name, such as a workload; ended by NULL.  Only where the experiment takes words. */
    const char *args[LAB_ARGS + 1];
} lab_options;

/* ---- the plan ---- */

typedef struct lab_case {
    char name[LAB_NAME];
    const workload *workload; /* with per_call repetitions in each call */
    const char *runtime;
    unsigned workers;
    char size[32]; /* empty: the usual one, or the quick one */
    char settings[LAB_SETTINGS][LAB_SETTING];
    int setting_count;
    /* A setting whose value is the path of a file that the program is to leave, and the name of that file; or NULL. */
    const char *file_setting;
    char file[LAB_NAME];
    /* Called after each call that went well; writes an object of JSON into `more`: what tell needs of the file.  NULL, or why
     * it cannot. */
    const char *(*after)(const struct lab_case *c, const char *path, FILE *more);
    bool failed; /* and is not called again */
} lab_case;

/* plan may set the rounds and the seconds; --repeat has the last word. */
typedef struct lab_plan {
    lab_case cases[LAB_CASES];
    int count, rounds;
    double seconds;      /* that one call takes, about, until that is known; 0: no idea */
    char left_out[1024]; /* lines: who, and why */
} lab_plan;

/* Add a case.  The format makes its name, of letters, digits and . - _ / alone.  The workload must outlive the plan. */
lab_case *lab_add(lab_plan *p, const workload *w, const char *runtime, unsigned workers,
                  const char *name, ...) __attribute__((format(printf, 5, 6)));

/* Is there such a program?  Where there is none, the reason goes into the report. */
bool lab_has(lab_plan *p, const workload *w, const char *runtime);

void lab_size(lab_case *c, long size);
void lab_set(lab_case *c, const char *setting, ...) __attribute__((format(printf, 2, 3)));
void lab_leaves(lab_case *c, const char *setting, const char *file,
                const char *(*after)(const lab_case *c, const char *path, FILE *more));

/* ---- the results ---- */

typedef struct lab_results lab_results;

/* All values of a case, one call after the other, of a member that lab_add named so; none where there is no such case.  They live
 * as long as the results. */
lab_numbers lab_samples(const lab_results *r, const char *name, ...)
    __attribute__((format(printf, 2, 3))); /* seconds */
/* The median of each call's samples, or with a figure of its values: for comparing calls of the same round, as repetitions within a
 * call are too much alike to count each. */
lab_numbers lab_medians(const lab_results *r, const char *figure, const char *name, ...)
    __attribute__((format(printf, 3, 4)));
lab_numbers lab_figures(const lab_results *r, const char *figure, const char *name, ...)
    __attribute__((format(printf, 3, 4))); /* those of "metrics", such as cpu_ns */
lab_numbers lab_counters(const lab_results *r, const char *counter, const char *name, ...)
    __attribute__((format(printf, 3,
                          4))); /* of all workers; one for each call, by its repetitions */
lab_numbers lab_members(const lab_results *r, const char *member, const char *name, ...)
    __attribute__((format(printf, 3, 4))); /* "size", "spawns", "peak_kb": one for each call */

/* What `after` wrote in the last round, as JSON, or NULL. */
const char *lab_more(const lab_results *r, const char *name, ...)
    __attribute__((format(printf, 2, 3)));

/* What was asked for, as it is in the journal. */
bool lab_was_quick(const lab_results *r);
unsigned lab_workers(const lab_results *r);
unsigned lab_cpus(const lab_results *r); /* that the programs could use */
int lab_rounds(const lab_results *r);
const char *lab_args(const lab_results *r); /* with spaces between them; "" where there were none */

/* ---- experiments ---- */

typedef struct lab_experiment {
    const char *name, *title;
    const char *about;     /* a line, for the help */
    const char *published; /* what the publication did and found, in a few sentences */
    void (*plan)(const lab_options *o, lab_plan *p);
    void (*tell)(const lab_results *r, report_page *page);
    const char
        *args; /* how the words after its name are called in the help, or NULL: it takes none */
    const char *(*refuses)(
        const lab_options *o); /* what is wrong with them, or NULL.  May be NULL */
} lab_experiment;

/* Ended by NULL. */
extern const lab_experiment *const lab_experiments[];

#endif
