/* Those who look at a runtime.  Each is told when it begins and ends, and when something is wrong; what it does not want
 * to know is NULL. */
#ifndef FI_OBSERVE_OBSERVE_H
#define FI_OBSERVE_OBSERVE_H

#include "sched/hooks.h"

extern const fi_hooks fi_observe_scale;   /* scale.c */
extern const fi_hooks fi_observe_stats;   /* stats_table.c */
extern const fi_hooks fi_observe_samples; /* sampler.c */
extern const fi_hooks fi_observe_top;     /* top.c */
extern const fi_hooks fi_observe_trace;   /* trace.c */

#endif
