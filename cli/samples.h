/* Reader of a file of samples: filch-samples(5). */
#ifndef CLI_SAMPLES_H
#define CLI_SAMPLES_H

#include <filch/samples.h>

#include <stddef.h>

typedef struct samples {
    filch_samples_head head; /* its strings are terminated */
    const char *map;
    size_t size;
} samples;

/* Returns NULL, or why it cannot be read, to follow its name in a message. */
const char *samples_open(samples *s, const char *path);
void samples_close(samples *s);

/* Of the i-th sample, oldest first. */
uint64_t samples_stamp(const samples *s, uint64_t i);
uint32_t samples_value(const samples *s, uint64_t i, uint32_t deque, uint32_t column);

/* up - down - top: may be below 0, for a moment. */
int32_t samples_deque_size(const samples *s, uint64_t i, uint32_t deque);

/* The name of a column: at most FILCH_SAMPLES_NAME characters, not always terminated. */
const char *samples_column(const samples *s, uint32_t column);

#endif
