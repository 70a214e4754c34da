/* The lines of a journal. */
#ifndef CLI_LAB_RESULTS_H
#define CLI_LAB_RESULTS_H

#include "lab.h"

enum { LAB_KEY = LAB_NAME + 16 };

typedef struct lab_result {
    char *line;
    char key[LAB_KEY]; /* name of the case, # and round */
    double seconds;
    const char *report, *analysis; /* JSON objects within the line, or NULL */
    const char *failed;            /* reason as a JSON string, or NULL */
} lab_result;

typedef struct lab_array {
    struct lab_array *next;
    double values[];
} lab_array;

struct lab_results {
    char *head; /* the header of the journal */
    lab_result *all;
    int count, capacity;
    lab_array *arrays; /* memory of the numbers that were returned */
};

/* NULL: out of memory, or not a header. */
lab_results *results_new(const char *head);
void results_free(lab_results *r);

/* Add a line of the journal.  Returns 0, -EINVAL or -ENOMEM. */
int results_add(lab_results *r, const char *line);

/* The successful call of this case and round, or NULL. */
const lab_result *results_find(const lab_results *r, const char *key);

/* A member of "options" in the header; any member of the header. */
double results_option(const lab_results *r, const char *member);
const char *results_head(const lab_results *r, const char *member); /* as JSON, or NULL */

double results_seconds(const lab_results *r); /* seconds of all calls */
int results_n_good(const lab_results *r);     /* successful calls, each counted once */

#endif
