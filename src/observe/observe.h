/* The observers of the runtime. */
#ifndef FI_OBSERVE_OBSERVE_H
#define FI_OBSERVE_OBSERVE_H

#include "sched/hooks.h"

/* [hooks] Call all observers. */
int fi_observers_begin(fi_runtime *rt);
void fi_observers_end(fi_runtime *rt, bool has_run);
void fi_observers_incident(fi_runtime *rt, fi_incident why);

/* An observer.  sched/hooks.h says when each function is called; it may be NULL. */
typedef struct fi_observer {
    int (*begin)(fi_runtime *rt);
    void (*end)(fi_runtime *rt, bool has_run);
    void (*incident)(fi_runtime *rt, fi_incident why);
} fi_observer;

extern const fi_observer fi_observe_scale;   /* scale.c */
extern const fi_observer fi_observe_stats;   /* stats_table.c */
extern const fi_observer fi_observe_samples; /* sampler.c */
extern const fi_observer fi_observe_trace;   /* trace.c */

#endif
