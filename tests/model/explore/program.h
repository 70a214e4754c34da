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

/* The owner and its thieves. */
static inline int program_threads(const program *p)
{
    int n = 1;
    while (n <= MAX_THIEVES && p->thieves[n - 1])
        n++;
    return n;
}

/* Prepare *c, but for its mode and weakenings.  The program is kept by reference. */

/* locked, bounded, batch, half.  Owner: P push the next item, O pop; then it joins and drains.
 * Thief: S steal.  Each item that was pushed is obtained exactly once. */
void deque_check(check *c, const program *p);

/* lease.  Owner: C close, replace the thing, open.  Thief: U enter, use the thing, leave.  Nobody
 * uses it while it is replaced: the plain accesses to it never race. */
void lease_check(check *c, const program *p);

/* idle.  All: P put a piece of work and notify, T find work and take a piece, sleeping when there is
 * none, D the same with a deadline for the first sleep, S stop everybody, B (alone) like T
 * for a worker that is asleep from the start, G borrow a worker, search, and give it back, H keep it until others have done all work.  A thread that has come to its end is busy for ever.
 * No work is left while a worker sleeps, nobody sleeps after a stop, and one thread uses a worker at a time. */
void idle_check(check *c, const program *p);

/* fork, with `capacity` private tasks.  Owner, a fiber: N spawn, Y sync, each of which answers when it is
 * asked; M, first of all, makes it.  Thief: T find a public task and take it, asking for one before it sleeps.  While a worker
 * sleeps, no task is public, and the fiber has none or is asked. */
void fork_check(check *c, const program *p);

/* ticket, in deques of `capacity`.  Owner, a fiber: P publish a task, Y sync the newest, O the same, but
 * look for its ticket in the deque first.  Thief: S steal a ticket and run its task, then the rest of the
 * fiber if that waits for it.  Each task runs once, its result is seen, and its ticket is freed once. */
void ticket_check(check *c, const program *p);

/* next.  Owner: R put the next fiber, O take, A put again what it just took.  Thief: S steal.  Each fiber
 * that was put is obtained once, by somebody who sees its context. */
void next_check(check *c, const program *p);

/* gate.  Owner: G open it when there is a result.  Thief: W wait for it, use the result and be gone. */
void gate_check(check *c, const program *p);

#endif
