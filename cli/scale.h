/* What a run on one worker says about a run on many. */
#ifndef CLI_SCALE_H
#define CLI_SCALE_H

#include <stdbool.h>
#include <stdint.h>

/* Times in seconds. */
typedef struct scale_sums {
    double work, span, burdened_span, burden, elapsed;
    double spawns, pieces, looks, look;
} scale_sums;

/* From the line of JSON that the runtime has written; false: it is none. */
bool scale_read(const char *text, scale_sums *out);

/* Of two runs. */
void scale_keep_shorter(scale_sums *s, const scale_sums *other);

/* Work by span: more workers than that are of no use. */
double scale_parallelism(const scale_sums *s);
double scale_burdened_parallelism(const scale_sums *s);

/* How much faster so many workers may be than one, at most and at least.  No order of work can beat the first; a greedy
 * one, in which nobody is idle while there is work, stays above the second. */
double scale_speedup_max(const scale_sums *s, unsigned workers);
double scale_speedup_min(const scale_sums *s, unsigned workers);

/* Are the pieces so short that the clock measured mostly itself? */
bool scale_is_rough(const scale_sums *s);

/* Times that were measured with so many workers, if there are any. */
typedef struct scale_run {
    unsigned workers;
    double best, median; /* seconds; 0: not measured */
} scale_run;

typedef struct scale_result {
    scale_sums sums;
    scale_run runs[64]; /* in rising order of workers; the first with 1 */
    int count;
    bool measured;
} scale_result;

/* For people; a table of numbers with commas; a picture.  The last two: NULL, or why not. */
void scale_print(const scale_result *r);
const char *scale_write_csv(const scale_result *r, const char *file);
const char *scale_plot(const scale_result *r, const char *file);

#endif
