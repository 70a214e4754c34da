/* What things in a trace are called. */
#ifndef FI_OBSERVE_TRACE_NAMES_H
#define FI_OBSERVE_TRACE_NAMES_H

#include "sched/fiber.h"

#include <stddef.h>

typedef struct fi_runtime fi_runtime;

#define FI_TRACE_NAME_SIZE 96u

/* To find the name of a function takes long, and most fibers have one of few. */
typedef struct fi_trace_names {
    struct {
        uintptr_t function;
        char name[FI_TRACE_NAME_SIZE];
    } known[64];
} fi_trace_names;

/* [owner] What a function is called.  It stays until the next is asked for. */
const char *fi_trace_names_function(fi_trace_names *n, uintptr_t function);

/* [owner] What a fiber is called: its name, else its function, else what kind of thing it runs. */
const char *fi_trace_names_fiber(fi_trace_names *n, const fi_runtime *rt, const fi_trace_id *t);

#endif
