/* What a trace knows of a fiber: written only while there is one (sched/tracepoint.h). */
#ifndef FI_SCHED_TRACED_H
#define FI_SCHED_TRACED_H

#include <stdint.h>

/* What a fiber may run. */
typedef enum fi_work { FI_WORK_FIBER, FI_WORK_TASK, FI_WORK_JOB } fi_work;

typedef struct fi_trace_id {
    uint64_t id; /* of what it runs now, never used again; 0: nothing that the trace has seen */
    uintptr_t function; /* 0: not known */
    uint32_t name;      /* in the runtime's names; 0: none */
    fi_work work;
} fi_trace_id;

#endif
