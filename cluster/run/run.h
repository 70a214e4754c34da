/* A run: one collective call of this process. */
#ifndef FI_CLUSTER_RUN_H
#define FI_CLUSTER_RUN_H

#include "run/lanes.h"

/* Identifies a collective call.  All ranks must make the same one. */
enum { FI_CALL_FOR = 1, FI_CALL_REDUCE, FI_CALL_POOL, FI_CALL_BAGS, FI_CALL_STOP };

/* A hash of the call and of its sizes, which is not 0. */
uint32_t fi_call_hash(unsigned call, const uint64_t *sizes, unsigned n);

/* [any thread or fiber] Check the accumulator, and make a run.  Takes the bag in any case.
 * function: of the API, for messages.
 * error: not 0: this rank cannot do its part.  It ends the run on all ranks, which wait for it.
 * Returns the result of the run, or -errno after a message. */
int fi_run(const char *function, uint32_t call, const fi_work *work, void *bag, int error);

/* [any thread or fiber] Begin to use the cluster for a run, and end it.
 * Returns 0; -EINVAL: the cluster has not been started; -EBUSY: another run is in progress. */
int fi_cluster_claim(void);
void fi_cluster_release(void);

/* Report an argument that is NULL.  wanted: what to pass, with its article.  Returns -EINVAL. */
int fi_run_null(const char *function, const char *argument, const char *wanted);

#endif
