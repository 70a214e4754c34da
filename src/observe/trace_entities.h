/* A hash table of the entities of a trace by ID: fibers, and threads that are not workers. */
#ifndef FI_OBSERVE_TRACE_ENTITIES_H
#define FI_OBSERVE_TRACE_ENTITIES_H

#include "sched/fiber.h"

#include <stdbool.h>
#include <stddef.h>

typedef enum fi_trace_state {
    FI_TRACE_STATE_UNKNOWN,
    FI_TRACE_STATE_RUNS,
    FI_TRACE_STATE_WAITS,
    FI_TRACE_STATE_READY,
} fi_trace_state;

typedef struct fi_trace_entity {
    uint64_t id; /* 0: the slot is empty */
    fi_trace_id traced;
    fi_trace_state state;
    int64_t since_ns;      /* start of the state */
    const char *wait_kind; /* what it waits for */
    uint64_t object;
    bool has_row;   /* its own row: it has waited at least once */
    bool has_waker; /* the next two are valid */
    uint64_t waker_thread;
    int64_t woken_ns;
} fi_trace_entity;

typedef struct fi_trace_entities {
    fi_trace_entity *table;
    size_t n, capacity; /* capacity is a power of two, or 0 */
} fi_trace_entities;

/* [owner] Find or add an entity.  Returns: NULL if there is no memory. */
fi_trace_entity *fi_trace_entities_get(fi_trace_entities *c, uint64_t id);

void fi_trace_entities_free(fi_trace_entities *c);

#endif
