/* An allocator that fails on demand and checks its caller, for tests without memory.
 *
 *     static int make_and_use(void *arg)
 *     {
 *         thing *t;
 *         int e = thing_new(&t);          // the call under test
 *         if (e < 0)
 *             return e;                   // after an error all memory must be freed
 *         e = thing_use(t);               // after an error here ...
 *         thing_free(t);                  // ... the thing can still be freed
 *         return e;
 *     }
 *
 *     CHECK(inject_every(make_and_use, NULL) >= 2);
 *
 * inject_every runs the function repeatedly.  In round n the n-th allocation fails: once that one
 * alone, once that one and all after it.  The last round is the first n that the function does not
 * reach; that run must succeed.  After every run all memory must be freed.
 *
 * The function returns 0 for success and -ENOMEM for failure.  Any other value ends the test.  It
 * may return 0 in a round if the code under test does not need the memory.  It must make the same
 * allocations each time (threads may share them in any order).
 *
 * A fault ends the process with a message that names it and the round: memory leaked, freed twice
 * or never allocated, freed with another size or alignment, written before its beginning or behind
 * its end.  Memory is filled with junk when it is allocated and when it is freed.
 *
 * The runtime must be stopped when an injection starts, because the allocator is replaced.  Link
 * with tests/fault/inject.c.
 */
#ifndef TESTS_FAULT_INJECT_H
#define TESTS_FAULT_INJECT_H

#include <stdbool.h>
#include <stddef.h>

#define INJECT_NEVER 0

/* Replace the allocator of Filch.  The fail_at-th allocation from now on fails (1 is the first, or
 * INJECT_NEVER); with and_after, so do all that follow it. */
void inject_start(unsigned fail_at, bool and_after);

/* Restore the built-in allocator.  All memory must have been freed.  True if an allocation was
 * made to fail. */
bool inject_stop(void);

/* Allocations since inject_start, including those that failed. */
unsigned inject_n_allocations(void);

/* Allocations that are not freed yet. */
unsigned inject_live(void);

/* See above.  Returns the number of allocations of a run without failures. */
unsigned inject_every(int (*run)(void *arg), void *arg);

#endif
