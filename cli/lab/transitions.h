/* Probabilities of changes of a deque's size: the estimate of Kuchumov 2016, section 4.1, as we
 * read it.
 *
 * Time is divided into steps of a grid.  A sample belongs to the step of its time stamp; in each
 * step the first sample counts. From one counted sample to the next there are k steps, and the
 * size, B+ - B- - T, changes by n.  It is assumed to change by du = n/k in each step.
 *
 * A change is an integer, du is not.  The paper: "the number of changes by l, l != 0, grew by du/l
 * for each interval".  It does not say which l.  We round du away from 0 (1 for 0 < du <= 1, -2 for
 * -2 <= du < -1), and count the rest of the step as no change. So the frequencies of each step add
 * up to 1, and the changes to du, as in the published rows.
 *
 * This file uses neither clocks nor files.
 */
#ifndef CLI_LAB_TRANSITIONS_H
#define CLI_LAB_TRANSITIONS_H

#include <stdint.h>

enum { TRANSITIONS_MAX = 8 }; /* max change with its own counter; larger ones share it */

typedef struct transitions {
    uint64_t grid, first, step; /* step: that of the last counted sample */
    int64_t size;               /* at that sample */
    double steps;
    double by[2 * TRANSITIONS_MAX + 1]; /* counts; by[TRANSITIONS_MAX]: no change */
} transitions;

/* Start with the first sample; add the next ones in order. */
void transitions_begin(transitions *c, uint64_t grid, uint64_t stamp, int64_t size);
void transitions_add(transitions *c, uint64_t stamp, int64_t size);

/* Continue from this sample without a transition from the one before. */
void transitions_skip(transitions *c, uint64_t stamp, int64_t size);

/* The probability of a change by l; of a change by more than l in either direction.  0 without
 * steps. */
double transitions_probability(const transitions *c, int l);
double transitions_beyond(const transitions *c, int l);

#endif
