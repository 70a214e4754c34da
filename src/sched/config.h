/* What a runtime is started with: the caller's wishes, then the environment, then the defaults. */
#ifndef FI_SCHED_CONFIG_H
#define FI_SCHED_CONFIG_H

#include <filch/runtime.h>

#include "deque/deque.h"

#include <stdbool.h>

/* All decided. */
typedef struct fi_settings {
    unsigned workers;
    bool pin;
    bool eager;
    bool guests;
    size_t stack_size;
    const fi_deque_kind *deque;
    uint32_t steal_batch;
    int64_t search_ns;
    unsigned spare_threads;
    bool uring; /* where the kernel has it */
    char name[11];
    int64_t watchdog_ns; /* 0: off */
    filch_deadlock deadlock;
    int dump_signal; /* 0: none */
} fi_settings;

/* [any] 0; -EINVAL after a line on stderr that names what makes no sense. */
int fi_config_settle(const filch_config *config, fi_settings *out);

#endif
