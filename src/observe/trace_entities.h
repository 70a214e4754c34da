/* Those who appear in a trace, by their numbers: fibers, and threads that are no workers. */
#ifndef FI_OBSERVE_TRACE_ENTITIES_H
#define FI_OBSERVE_TRACE_ENTITIES_H

#include "sched/fiber.h"

#include <stdbool.h>
#include <stddef.h>

/* What one is known to do. */
typedef enum fi_trace_state {
    FI_TRACE_STATE_UNKNOWN,
    FI_TRACE_STATE_RUNS,
    FI_TRACE_STATE_WAITS,
    FI_TRACE_STATE_READY,
} fi_trace_state;

typedef struct fi_trace_entity {
    uint64_t id; /* 0: there is none here */
    fi_trace_id traced;
    fi_trace_state state;
    int64_t since_ns; /* the state */
    const char *what; /* that it waits for */
    uint64_t object;
    bool has_row;   /* of its own: it has waited at least once */
    bool has_waker; /* and where and when that woke it: */
    uint64_t waker_thread;
    int64_t woken_ns;
} fi_trace_entity;

typedef struct fi_trace_entities {
    fi_trace_entity *table;
    size_t n, capacity; /* capacity: a power of two, or 0 */
} fi_trace_entities;

/* [owner] The one of that number, who is new perhaps; NULL: no memory. */
fi_trace_entity *fi_trace_entities_get(fi_trace_entities *c, uint64_t id);

/* [owner] */
void fi_trace_entities_free(fi_trace_entities *c);

#endif
