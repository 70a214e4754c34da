/* Pools of nodes: as items of one size, and as texts. */
#ifndef BENCH_UTS_ITEMS_H
#define BENCH_UTS_ITEMS_H

#include <stdint.h>

/* Add the nodes of the whole tree to *nodes.  All ranks call it.
 * Returns the result of filch_cluster_pool. */
int nodes_run(uint64_t *nodes);
int texts_run(uint64_t *nodes);

#endif
