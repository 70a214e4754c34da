/* filch bench fibers: the table of fibers compared with Go, and of HTTP servers. */
#ifndef CLI_FIBERS_H
#define CLI_FIBERS_H

#include "bench_options.h"

/* Returns the exit code. */
int bench_fibers(const bench_options *o);

#endif
