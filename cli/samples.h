/* A file of samples, to be read: filch-samples(5). */
#ifndef CLI_SAMPLES_H
#define CLI_SAMPLES_H

#include <filch/samples.h>

#include <stddef.h>

typedef struct samples {
    filch_samples_head head; /* its texts end with 0 */
    const char *map;
    size_t size;
} samples;

/* NULL; or why it cannot be read, as the end of a line that begins with its name. */
const char *samples_open(samples *s, const char *path);
void samples_close(samples *s);

/* What there is of the i-th sample, the oldest first. */
uint64_t samples_stamp(const samples *s, uint64_t i);
uint32_t samples_value(const samples *s, uint64_t i, uint32_t deque, uint32_t column);

/* up - down - top: may be below 0, for a moment. */
int32_t samples_deque_size(const samples *s, uint64_t i, uint32_t deque);

/* What a column is called; not more than FILCH_SAMPLES_NAME characters, and perhaps no 0. */
const char *samples_column(const samples *s, uint32_t column);

#endif
