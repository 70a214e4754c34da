/* Writes single events in Chrome's trace format, which Perfetto reads as well: slices, instants,
 * counters, flows and names.  Times are in ns since the start of the trace.  Events may be in any
 * order. */
#ifndef FI_OBSERVE_CHROME_EVENTS_H
#define FI_OBSERVE_CHROME_EVENTS_H

#include "observe/json.h"

#include <stdbool.h>

typedef struct fi_chrome {
    int64_t from_ns; /* earlier events are left out, and earlier slices are cut */
    bool has_events, in_args;
    uint64_t flows;
    fi_json json;
} fi_chrome;

/* A row in a group of rows.  The format calls them thread and process. */
typedef struct fi_chrome_row {
    uint64_t group, row;
} fi_chrome_row;

/* [owner] Start an event.  Returns: false if it is left out.  After true, add arguments and call
 * fi_chrome_end. */
bool fi_chrome_slice(fi_chrome *c, fi_chrome_row at, int64_t from_ns, int64_t to_ns,
                     const char *category, const char *name);
bool fi_chrome_instant(fi_chrome *c, fi_chrome_row at, int64_t ns, const char *name);
bool fi_chrome_counter(fi_chrome *c, uint64_t group, int64_t ns, const char *name);
/* One of the color names of Chrome's viewer.  Call it before the arguments. */
void fi_chrome_color(fi_chrome *c, const char *name);
void fi_chrome_arg_text(fi_chrome *c, const char *key, const char *value);
void fi_chrome_arg_number(fi_chrome *c, const char *key, uint64_t value);
void fi_chrome_end(fi_chrome *c);

/* [owner] An arrow between two slices that are open on their rows at these times. */
void fi_chrome_flow(fi_chrome *c, fi_chrome_row from, int64_t from_ns, fi_chrome_row to,
                    int64_t to_ns);

/* [owner] Name and sort order of a group or a row. */
void fi_chrome_group_name(fi_chrome *c, uint64_t group, const char *name, uint64_t order);
void fi_chrome_row_name(fi_chrome *c, fi_chrome_row at, const char *name, uint64_t order);

#endif
