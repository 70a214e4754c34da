/* Sizes of deques over time, from a file of samples. */
#ifndef CLI_LAB_DEQUE_SIZES_H
#define CLI_LAB_DEQUE_SIZES_H

#include "samples.h"
#include "transitions.h"

#include <stdio.h>

enum { DEQUE_SIZES_CURVE = 240 };

/* The history of one deque, between the first and the last change of any deque. */
typedef struct deque_history {
    transitions transitions;
    uint32_t up, down, top; /* increments while the sampler ran, as in transitions */
    double mean;            /* weighted by time */
    int32_t largest;
    int32_t curve[DEQUE_SIZES_CURVE]; /* max in each of equal intervals */
} deque_history;

typedef struct deque_sizes {
    uint64_t first, last; /* samples: no changes before and after */
    double ticks;         /* between first and last */
    double median_gap;    /* median between samples that differ */
    double min_gap;       /* min between two samples */
    /* The share of time in which the sampler was away for 20 us or more while workers ran.
     * transitions exclude it. */
    double unseen;
    uint32_t deques;
    deque_history *of;
} deque_sizes;

/* Returns 0 or -ENOMEM. */
int deque_sizes_find(deque_sizes *z, const samples *s, uint64_t grid);
void deque_sizes_free(deque_sizes *z);

/* Write as a JSON object. */
void deque_sizes_write(const deque_sizes *z, const samples *s, uint64_t grid, FILE *out);

#endif
