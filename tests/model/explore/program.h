/* Small programs, each for one part of the source, and what must hold in every execution of them.
 */
#ifndef EXPLORE_PROGRAM_H
#define EXPLORE_PROGRAM_H

#include "explore/explore.h"

enum { MAX_THIEVES = 3 };

/* Each operation is a letter. */
typedef struct program {
    const char *kind;
    uint32_t capacity, batch; /* of a deque */
    const char *owner;
    const char *thieves[MAX_THIEVES];
} program;

/* Prepare *c, but for its mode and weakenings.  The program is kept by reference. */

/* locked, bounded, batch, half.  Owner: P push the next item, O pop; then it joins and drains.
 * Thief: S steal.  Each item that was pushed is obtained exactly once. */
void deque_check(check *c, const program *p);

/* lease.  Owner: C close, replace the thing, open.  Thief: U enter, use the thing, leave.  Nobody
 * uses it while it is replaced: the plain accesses to it never race. */
void lease_check(check *c, const program *p);

#endif
