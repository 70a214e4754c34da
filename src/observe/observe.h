/* The observers.  Each has hooks for the start and the end of the runtime and for incidents.  A
 * hook may be NULL. */
#ifndef FI_OBSERVE_OBSERVE_H
#define FI_OBSERVE_OBSERVE_H

#include "sched/hooks.h"

extern const fi_hooks fi_observe_scale;   /* scale.c */
extern const fi_hooks fi_observe_stats;   /* stats_table.c */
extern const fi_hooks fi_observe_samples; /* sampler.c */
extern const fi_hooks fi_observe_top;     /* top.c */
extern const fi_hooks fi_observe_trace;   /* trace.c */

#endif
