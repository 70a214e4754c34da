/* An allocator that fails on demand and forgives nothing, for tests of what happens when memory
 * runs out.
 *
 *     static int make_and_use(void *arg)
 *     {
 *         thing *t;
 *         int e = thing_new(&t);          // the call under test
 *         if (e < 0)
 *             return e;                   // it says that it failed: it must have freed everything
 *         e = thing_use(t);               // what may fail halfway ...
 *         thing_free(t);                  // ... must still leave something that can be freed
 *         return e;
 *     }
 *
 *     CHECK(inject_every(make_and_use, NULL) >= 2);
 *
 * inject_every runs the function again and again.  In round n the n-th allocation fails: once that
 * one alone, once that one and all after it.  It ends with the first n that the function does not
 * reach; that run must succeed.  After every run all memory must be back.
 *
 * The function returns 0 when it worked and -ENOMEM when it did not; anything else ends the test.
 * In a round it may well return 0, where the code under test can do without what it did not get.
 * It must make the same allocations each time (threads may share them in any order).
 *
 * All that is wrong ends the process with a line that says what and in which round: memory left
 * over, freed twice or never allocated, freed with another size or alignment, written before its
 * beginning or behind its end.  Memory is full of junk when given and again when taken back, so
 * that nobody gets away with reading it.
 *
 * Nothing of Filch's own may be live when an injection starts (the allocator is replaced: the
 * runtime must be stopped).  Link with tests/fault/inject.c.
 */
#ifndef TESTS_FAULT_INJECT_H
#define TESTS_FAULT_INJECT_H

#include <stdbool.h>
#include <stddef.h>

#define INJECT_NEVER 0

/* Replace Filch's allocator.  The fail_at-th allocation from now on fails (1 is the first, or
 * INJECT_NEVER); with and_after, so do all that follow it. */
void inject_start(unsigned fail_at, bool and_after);

/* Go back to the allocator built in.  All memory must have been freed.  True when an allocation was
 * made to fail. */
bool inject_stop(void);

/* Allocations asked for since inject_start, those that failed included. */
unsigned inject_asked(void);

/* Allocations not yet freed. */
unsigned inject_live(void);

/* See above.  How many allocations the function makes when none fails. */
unsigned inject_every(int (*run)(void *arg), void *arg);

#endif
