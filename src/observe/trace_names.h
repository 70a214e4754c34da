/* Names of functions and fibers in a trace. */
#ifndef FI_OBSERVE_TRACE_NAMES_H
#define FI_OBSERVE_TRACE_NAMES_H

#include "sched/fiber.h"

#include <stddef.h>

typedef struct fi_runtime fi_runtime;

#define FI_TRACE_NAME_SIZE 96u

/* A cache of function names, because a symbol lookup is slow and most fibers share few functions.
 * */
typedef struct fi_trace_names {
    struct {
        uintptr_t function;
        char name[FI_TRACE_NAME_SIZE];
    } cache[64];
} fi_trace_names;

/* [owner] The name of a function.  It is valid until the next call. */
const char *fi_trace_names_function(fi_trace_names *n, uintptr_t function);

/* [owner] The name of a fiber, or else of its function, or else the kind of its work. */
const char *fi_trace_names_fiber(fi_trace_names *n, const fi_runtime *rt, const fi_trace_id *t);

#endif
