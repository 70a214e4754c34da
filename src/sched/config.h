/* What a runtime is started with: the caller's wishes, then the environment, then the defaults. */
#ifndef FI_SCHED_CONFIG_H
#define FI_SCHED_CONFIG_H

#include <filch/runtime.h>

#include "deque/deque.h"

#include <stdbool.h>

/* What is to be seen of the runtime from outside.  Names of files are the caller's: to be used while the runtime starts. */
typedef struct fi_observe_settings {
    bool stats;
    bool top;
    const char *trace;     /* NULL: none */
    int64_t trace_ns;      /* only the last so many; 0: all that there is room for */
    uint32_t trace_events; /* of each worker; a power of two */
    const char *sample;    /* NULL: none */
    int sample_cpu;        /* where the sampler is to be; -1: anywhere */
    int64_t sample_ns;     /* from one sample to the next; 0: as fast as can be */
    const char *scale;     /* NULL: none; else there is one worker */
    int64_t burden_ns;     /* of work that another worker takes over */
} fi_observe_settings;

/* All decided. */
typedef struct fi_settings {
    unsigned workers;
    bool affinity;
    bool eager;
    bool caller_runs;
    size_t stack_size;
    const fi_deque_ops *deque;
    uint32_t steal_batch;
    int64_t search_ns;
    unsigned blocking_threads;
    char name[11];
    int64_t watchdog_ns; /* 0: off */
    filch_deadlock deadlock;
    int dump_signal; /* 0: none */
    fi_observe_settings observe;
} fi_settings;

/* [any] 0; -EINVAL after a line on stderr that names what makes no sense. */
int fi_config_resolve(const filch_config *config, fi_settings *out);

#endif
