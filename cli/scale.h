/* Work and span of a run on one worker, and the speed-up they predict. */
#ifndef CLI_SCALE_H
#define CLI_SCALE_H

#include <stdbool.h>
#include <stdint.h>

/* Times in seconds. */
typedef struct scale_sums {
    double work, span, burdened_span, burden, elapsed;
    double spawns, pieces, clock_reads, clock_read;
} scale_sums;

/* Parse the line of JSON that the runtime wrote. */
bool scale_read(const char *text, scale_sums *out);

/* Keep the shorter times of two runs. */
void scale_keep_shorter(scale_sums *s, const scale_sums *other);

/* Work / span. */
double scale_parallelism(const scale_sums *s);
double scale_burdened_parallelism(const scale_sums *s);

/* Bounds of the speed-up over one worker.  No schedule exceeds the max.  A greedy schedule, in
 * which no worker is idle while there is work, reaches the min. */
double scale_speedup_max(const scale_sums *s, unsigned workers);
double scale_speedup_min(const scale_sums *s, unsigned workers);

/* Are the pieces so short that the cost of the clock dominates? */
bool scale_is_rough(const scale_sums *s);

/* Measured times with this number of workers. */
typedef struct scale_run {
    unsigned workers;
    double best, median; /* seconds; 0: not measured */
} scale_run;

typedef struct scale_result {
    scale_sums sums;
    scale_run runs[64]; /* ascending numbers of workers, the first 1 */
    int count;
    bool measured;
} scale_result;

/* As text, as CSV, as a plot.  The last two return NULL, or why they failed. */
void scale_print(const scale_result *r);
const char *scale_write_csv(const scale_result *r, const char *file);
const char *scale_plot(const scale_result *r, const char *file);

#endif
