/* Bad luck on demand, to see that the rest can bear it.  Only in builds with the option FILCH_CHAOS; there, while the
 * variable FILCH_CHAOS holds a number, chance makes fibers yield wherever they may, and system calls fail or come
 * short as they rightly may.  The same number gives each thread the same luck again. */
#ifndef FI_BASE_CHAOS_H
#define FI_BASE_CHAOS_H

#include <stdbool.h>

#ifdef FILCH_CHAOS

/* [any] True one time in so many. */
bool fi_chaos(unsigned one_in);

#else

#define fi_chaos(one_in) false

#endif
#endif
