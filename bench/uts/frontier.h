/* A bag of unexplored nodes: the frontier of a depth-first search. */
#ifndef BENCH_UTS_FRONTIER_H
#define BENCH_UTS_FRONTIER_H

#include <stdint.h>

/* Add the nodes of the whole tree to *nodes.  All ranks call it.
 * Returns the result of filch_cluster_run. */
int frontier_run(uint64_t *nodes);

#endif
