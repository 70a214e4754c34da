/* How often a deque's size changes by how much: Kuchumov's estimate (2016, section 4.1), as we read it.
 *
 * Time is cut into steps of a grid.  A sample belongs to the step that its stamp is in; of several in one step the first counts.
 * From one sample that counts to the next there are k steps, and the size, B+ - B- - T, changes by n.  As nothing is known of what
 * happened between, it is taken to have changed by du = n/k in each of them.
 *
 * A change is whole, and du is not.  The paper: "the number of changes by l, l != 0, grew by du/l for each interval".  Which l is
 * not said.  We take the next whole number away from 0 (1 for 0 < du <= 1, -2 for -2 <= du < -1), and what is missing to 1 is a
 * step without a change.  So the frequencies of each step add up to 1, and the changes to du; the published rows do the same.
 *
 * No clocks and no files here: stamps and sizes are what they are given.
 */
#ifndef CLI_LAB_TRANSITIONS_H
#define CLI_LAB_TRANSITIONS_H

#include <stdint.h>

enum {
    TRANSITIONS_MAX = 8
}; /* the largest change that has a place of its own; larger ones share it */

typedef struct transitions {
    uint64_t grid, first, step; /* the step of the last sample that counted */
    int64_t size;               /* then */
    double steps;
    double by[2 * TRANSITIONS_MAX + 1]; /* how often; by[TRANSITIONS_MAX] is no change */
} transitions;

/* The first sample; the next ones, in order. */
void transitions_begin(transitions *c, uint64_t grid, uint64_t stamp, int64_t size);
void transitions_add(transitions *c, uint64_t stamp, int64_t size);

/* Go on from this sample, as from a first one: of what was before it nothing is known, and it does not count. */
void transitions_skip(transitions *c, uint64_t stamp, int64_t size);

/* That a step changes the size by l; by more than that up, or by more than that down: beyond.  0 where there was no step. */
double transitions_probability(const transitions *c, int l);
double transitions_beyond(const transitions *c, int l);

#endif
