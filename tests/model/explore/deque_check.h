/* Small programs over a deque, and what must hold in every execution of them: each item that was
 * pushed is obtained exactly once, and what it points to may be read. */
#ifndef EXPLORE_DEQUE_CHECK_H
#define EXPLORE_DEQUE_CHECK_H

#include "explore/explore.h"

enum { MAX_THIEVES = 3 };

typedef struct deque_program {
    const char *kind;
    uint32_t capacity, batch;
    const char *owner;                /* P push the next item, O pop; then it joins and drains */
    const char *thieves[MAX_THIEVES]; /* S steal */
} deque_program;

/* Prepare *c, but for its mode and weakenings.  The program is kept by reference. */
void deque_check(check *c, const deque_program *p);

#endif
