/* Writes the events of a trace as JSON for Perfetto and chrome://tracing. */
#ifndef FI_OBSERVE_TRACE_JSON_H
#define FI_OBSERVE_TRACE_JSON_H

#include "base/clock.h"

#include <stdint.h>

typedef struct fi_runtime fi_runtime;

typedef struct fi_trace_request {
    fi_clock_reading start; /* time 0 of the trace */
    int64_t last_ns;        /* write only the last nanoseconds; 0: all */
    const char *reason;     /* why the file is written, as one word */
    int fd;
} fi_trace_request;

/* [any] Write all events so far.  The workers may continue meanwhile.  Returns: 0 or -errno. */
int fi_trace_write_json(fi_runtime *rt, const fi_trace_request *request);

#endif
