/* The parts of a picture in the format of Chrome's trace viewer, which Perfetto reads as well: slices, instants, counters, flows
 * and names.  Times are in ns since the trace began.  They may come in has_events order. */
#ifndef FI_OBSERVE_CHROME_EVENTS_H
#define FI_OBSERVE_CHROME_EVENTS_H

#include "observe/json.h"

#include <stdbool.h>

typedef struct fi_chrome {
    int64_t from_ns; /* what is before is left out, and what began before begins here */
    bool has_events, in_args;
    uint64_t flows;
    fi_json json;
} fi_chrome;

/* A row, in a group of rows: what the viewers take for threads and processes. */
typedef struct fi_chrome_row {
    uint64_t group, row;
} fi_chrome_row;

/* [owner] Something on a row.  False: it is left out.  Otherwise arguments may be added, and fi_chrome_end is to be called. */
bool fi_chrome_slice(fi_chrome *d, fi_chrome_row at, int64_t from_ns, int64_t to_ns,
                     const char *category, const char *name);
bool fi_chrome_instant(fi_chrome *d, fi_chrome_row at, int64_t ns, const char *name);
bool fi_chrome_counter(fi_chrome *d, uint64_t group, int64_t ns, const char *name);
/* Of the names that the viewers know; before the arguments. */
void fi_chrome_color(fi_chrome *d, const char *name);
void fi_chrome_arg_text(fi_chrome *d, const char *key, const char *value);
void fi_chrome_arg_number(fi_chrome *d, const char *key, uint64_t value);
void fi_chrome_end(fi_chrome *d);

/* [owner] From a slice that is open at that time on its row to another. */
void fi_chrome_flow(fi_chrome *d, fi_chrome_row from, int64_t from_ns, fi_chrome_row to,
                    int64_t to_ns);

/* [owner] What the rows are called, and in which order they stand. */
void fi_chrome_group_name(fi_chrome *d, uint64_t group, const char *name, uint64_t order);
void fi_chrome_row_name(fi_chrome *d, fi_chrome_row at, const char *name, uint64_t order);

#endif
