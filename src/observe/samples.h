/* A ring of samples in memory, and the file format.  No threads. */
#ifndef FI_OBSERVE_SAMPLES_H
#define FI_OBSERVE_SAMPLES_H

#include <filch/samples.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One sample, as in the file. */
typedef struct fi_sample {
    uint64_t stamp;
    uint32_t values[];
} fi_sample;

/* A full ring overwrites the oldest samples. */
typedef struct fi_samples {
    char *memory;
    uint32_t sample_size;
    uint32_t deques;
    uint64_t capacity; /* in samples */
    uint64_t stored;   /* in total; the ring has the last min(capacity - 1, stored) */
    uint64_t taken;
    uint64_t retried; /* by the sampler: samples that took too long, and were taken again */
} fi_samples;

/* [any] Allocate about this number of bytes, and at least 4 samples.  All pages are touched, so
 * that sampling causes no page faults.  Returns: 0 or -ENOMEM. */
int fi_samples_init(fi_samples *s, uint32_t deques, size_t bytes);
void fi_samples_fini(fi_samples *s);

/* [sampler] The memory of the next sample.  Fill it and then call fi_samples_commit. */
fi_sample *fi_samples_next(fi_samples *s);
void fi_samples_commit(fi_samples *s);

/* [any, while the sampler is stopped] The number of samples, and the i-th one, oldest first. */
uint64_t fi_samples_count(const fi_samples *s);
const fi_sample *fi_samples_at(const fi_samples *s, uint64_t i);

/* [any, while the sampler is stopped] Write a file.  Sets the fields of the head that describe the
 * samples.  Returns: 0 or -errno. */
int fi_samples_write(const fi_samples *s, filch_samples_head *head, int fd);

#endif
