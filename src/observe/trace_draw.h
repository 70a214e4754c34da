/* The parts of a picture in the format of Chrome's trace viewer, which Perfetto reads as well: slices, instants, counters, arrows
 * and names.  Times are in ns since the trace began.  They may come in any order. */
#ifndef FI_OBSERVE_TRACE_DRAW_H
#define FI_OBSERVE_TRACE_DRAW_H

#include "observe/json.h"

#include <stdbool.h>

typedef struct fi_draw {
    int64_t from_ns; /* what is before is left out, and what began before begins here */
    bool any, in_args;
    uint64_t arrows;
    fi_json json;
} fi_draw;

/* A row, in a group of rows: what the viewers take for threads and processes. */
typedef struct fi_draw_row {
    uint64_t group, row;
} fi_draw_row;

/* [owner] Something on a row.  False: it is left out.  Otherwise arguments may be added, and fi_draw_end is to be called. */
bool fi_draw_slice(fi_draw *d, fi_draw_row at, int64_t from_ns, int64_t to_ns, const char *category,
                   const char *name);
bool fi_draw_instant(fi_draw *d, fi_draw_row at, int64_t ns, const char *name);
bool fi_draw_counter(fi_draw *d, uint64_t group, int64_t ns, const char *name);
/* Of the names that the viewers know; before the arguments. */
void fi_draw_color(fi_draw *d, const char *name);
void fi_draw_text(fi_draw *d, const char *key, const char *value);
void fi_draw_count(fi_draw *d, const char *key, uint64_t value);
void fi_draw_end(fi_draw *d);

/* [owner] From a slice that is open at that time on its row to another. */
void fi_draw_arrow(fi_draw *d, fi_draw_row from, int64_t from_ns, fi_draw_row to, int64_t to_ns);

/* [owner] What the rows are called, and in which order they stand. */
void fi_draw_name_group(fi_draw *d, uint64_t group, const char *name, uint64_t order);
void fi_draw_name_row(fi_draw *d, fi_draw_row at, const char *name, uint64_t order);

#endif
