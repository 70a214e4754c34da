/* What a file of samples says of the sizes of deques. */
#ifndef CLI_LAB_DEQUE_SIZES_H
#define CLI_LAB_DEQUE_SIZES_H

#include "samples.h"
#include "transitions.h"

#include <stdio.h>

enum { DEQUE_SIZES_CURVE = 240 };

/* One deque, from the first to the last change in any of them. */
typedef struct deque_history {
    transitions transitions;
    uint32_t up, down,
        top;     /* how far each moved while the sampler was there, as are the transitions */
    double mean; /* over time */
    int32_t largest;
    int32_t
        curve[DEQUE_SIZES_CURVE]; /* the largest in each part of the time; all parts are alike */
} deque_history;

typedef struct deque_sizes {
    uint64_t first, last; /* samples: nothing happened before and after */
    double ticks;         /* between them */
    double usual_gap;     /* the median of those between two samples that differ */
    double least_gap;     /* between the stamps of two samples there */
    /* The part of that in which the sampler was away for 20 us or more, and workers were not: it has no part in the changes. */
    double blind;
    uint32_t deques;
    deque_history *of;
} deque_sizes;

/* 0 or -ENOMEM. */
int deque_sizes_find(deque_sizes *z, const samples *s, uint64_t grid);
void deque_sizes_free(deque_sizes *z);

/* As an object of JSON. */
void deque_sizes_write(const deque_sizes *z, const samples *s, uint64_t grid, FILE *out);

#endif
