/* The settings of a runtime.  A field of filch_config comes first, then its environment variable,
 * then the default.  runtime.c resolves them at the start. */
#ifndef FI_SCHED_CONFIG_H
#define FI_SCHED_CONFIG_H

#include <filch/runtime.h>

#include "deque/deque.h"

#include <stdbool.h>

/* Settings of src/observe.  File names are the caller's, and are valid while the runtime starts. */
typedef struct fi_observe_settings {
    bool stats;
    const char *trace;     /* file; NULL: none */
    int64_t trace_ns;      /* keep the last nanoseconds; 0: all events that fit */
    uint32_t trace_events; /* of each worker; a power of two */
    const char *sample;    /* file; NULL: none */
    int sample_cpu;        /* CPU of the sampler; -1: any */
    int64_t sample_ns;     /* between samples; 0: as fast as possible */
    const char *scale;     /* file for work and span; NULL: none; else there is one worker */
    int64_t burden_ns;     /* cost of a steal, for the burdened span */
} fi_observe_settings;

typedef struct fi_settings {
    unsigned workers;
    bool affinity; /* pin each worker to a CPU */
    bool caller_runs;
    size_t stack_size;
    unsigned blocking_threads;
    char name[11];       /* start of the names of threads, which have at most 15 bytes */
    int64_t watchdog_ns; /* 0: off */
    filch_deadlock deadlock;
    int dump_signal;                                    /* 0: none */
    void (*on_worker_start)(unsigned index, void *ctx); /* NULL: none */
    void (*on_worker_stop)(unsigned index, void *ctx);
    void *worker_ctx;
    fi_observe_settings observe;
    /* Lab settings: environment variables without a field in filch_config. */
    bool eager; /* publish each task at its spawn */
    const fi_deque_ops *deque;
    uint32_t steal_batch;  /* max items per steal */
    int64_t search_ns;     /* min time that an idle worker searches (sched/search_time.h) */
    int64_t search_max_ns; /* max time */
} fi_settings;

/* [any] Returns: 0; -EINVAL: a setting is wrong, and a message names it. */
int fi_config_resolve(const filch_config *config, fi_settings *out);

#endif
