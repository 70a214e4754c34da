/* filch bench fibers: a table of its own, of fibers and what they wait at, with Go beside Filch, and of servers. */
#ifndef CLI_FIBERS_H
#define CLI_FIBERS_H

#include "bench_options.h"

/* How to end. */
int bench_fibers(const bench_options *o);

#endif
