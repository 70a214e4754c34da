/* From the events of a trace to a picture of it. */
#ifndef FI_OBSERVE_TRACE_JSON_H
#define FI_OBSERVE_TRACE_JSON_H

#include <stdint.h>

typedef struct fi_runtime fi_runtime;

typedef struct fi_trace_request {
    uint64_t began;  /* in ticks: the time 0 of the picture */
    int64_t last_ns; /* only the last so many; 0: all */
    const char *why; /* it is made, in a word */
    int fd;          /* where to write it */
} fi_trace_request;

/* [any] Workers may go on meanwhile.  0 or -errno. */
int fi_trace_write_json(fi_runtime *rt, const fi_trace_request *request);

#endif
