/* Counters of a runtime, for observers. */
#ifndef FI_OBSERVE_STATS_H
#define FI_OBSERVE_STATS_H

#include <filch/stats.h>

typedef struct fi_runtime fi_runtime;

/* [any, while the runtime exists] As filch_stats_get and filch_stats_worker.  rt may be NULL. */
int fi_stats_total(fi_runtime *rt, filch_stats *stats);
int fi_stats_one(fi_runtime *rt, unsigned worker, filch_counters *counters);

#endif
