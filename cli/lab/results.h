/* What programs said, line by line, as it is in a journal. */
#ifndef CLI_LAB_RESULTS_H
#define CLI_LAB_RESULTS_H

#include "lab.h"

enum { LAB_KEY = LAB_NAME + 16 };

typedef struct lab_result {
    char *line;
    char key[LAB_KEY]; /* the name of the case, # and the round */
    double took;
    const char *said, *more; /* objects of JSON within the line, or NULL */
    const char *failed;      /* why, as a string of JSON, or NULL */
} lab_result;

typedef struct lab_scrap {
    struct lab_scrap *next;
    double values[];
} lab_scrap;

struct lab_results {
    char *head; /* the first line of the journal */
    lab_result *all;
    int count, capacity;
    lab_scrap *scraps; /* numbers that were asked for */
};

/* NULL where memory is short, or head is no head of a journal. */
lab_results *results_new(const char *head);
void results_free(lab_results *r);

/* Add a line of the journal.  0; -EINVAL where it is none, -ENOMEM. */
int results_add(lab_results *r, const char *line);

/* The call of that case and round that went well, or NULL. */
const lab_result *results_find(const lab_results *r, const char *key);

/* What was asked for: a member of "asked" in the head; and the rest of the head. */
double results_asked(const lab_results *r, const char *member);
const char *results_head(const lab_results *r, const char *member); /* as JSON, or NULL */

double results_took(const lab_results *r); /* all calls, seconds */
int results_good(const lab_results *r);    /* calls that went well, each counted once */

#endif
