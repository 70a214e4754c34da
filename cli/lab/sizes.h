/* What a file of samples says of the sizes of deques. */
#ifndef CLI_LAB_SIZES_H
#define CLI_LAB_SIZES_H

#include "changes.h"
#include "samples.h"

#include <stdio.h>

enum { SIZES_CURVE = 240 };

/* One deque, from the first to the last change in any of them. */
typedef struct sizes_deque {
    changes changes;
    uint32_t up, down, top; /* how far each moved while the sampler was there, as are the changes */
    double mean;            /* over time */
    int32_t largest;
    int32_t curve[SIZES_CURVE]; /* the largest in each part of the time; all parts are alike */
} sizes_deque;

typedef struct sizes {
    uint64_t first, last; /* samples: nothing happened before and after */
    double ticks;         /* between them */
    double usual_gap;     /* the median of those between two samples that differ */
    double least_gap;     /* between the stamps of two samples there */
    /* The part of that in which the sampler was away for 20 us or more, and workers were not: it has no part in the changes. */
    double blind;
    uint32_t deques;
    sizes_deque *of;
} sizes;

/* 0 or -ENOMEM. */
int sizes_find(sizes *z, const samples *s, uint64_t grid);
void sizes_free(sizes *z);

/* As an object of JSON. */
void sizes_write(const sizes *z, const samples *s, uint64_t grid, FILE *out);

#endif
