/* Random fault injection, in builds with the option FILCH_CHAOS.  If the environment variable
 * FILCH_CHAOS is a number, fibers yield at random at every point where they may, and system calls
 * fail or transfer less at random, as the kernel may do.  The number is the seed: each thread makes
 * the same choices again. */
#ifndef FI_BASE_CHAOS_H
#define FI_BASE_CHAOS_H

#include <stdbool.h>

#ifdef FILCH_CHAOS

/* [any] True with a probability of 1 / one_in. */
bool fi_chaos(unsigned one_in);

#else

#define fi_chaos(one_in) false

#endif
#endif
