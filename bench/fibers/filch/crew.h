/* Fibers that all do a share of the same work, and are waited for. */
#ifndef BENCH_FIBERS_CREW_H
#define BENCH_FIBERS_CREW_H

#include "cases.h"

enum { MOST_HANDS = 100 };

/* What one of them has to do, of what, and what it has counted. */
typedef struct hand {
    long n;
    void *of;
    int64_t count;
} hand;

/* work(hand) in each of `hands` fibers, which have n to do together; the time until all are done.  *answer gets the sum of
 * what they counted. */
stopwatch crew_run(void *(*work)(void *hand), int hands, long n, void *of, int64_t *answer);

#endif
