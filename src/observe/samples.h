/* The memory that samples are kept in, and the file that they end in.  No threads here. */
#ifndef FI_OBSERVE_SAMPLES_H
#define FI_OBSERVE_SAMPLES_H

#include <filch/samples.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One moment: as in the file. */
typedef struct fi_sample {
    uint64_t stamp;
    uint32_t values[];
} fi_sample;

/* A ring: when it is full, the oldest go. */
typedef struct fi_samples {
    char *memory;
    uint32_t sample_size;
    uint32_t deques;
    uint64_t room;   /* samples */
    uint64_t stored; /* ever; the last min(room, stored) are there */
    uint64_t taken;
    uint64_t torn; /* the sampler's: looks that took too long, and were taken again */
} fi_samples;

/* [any] Room for about so many bytes of samples, and at least for 4.  All of it is touched, so that nobody waits for the
 * kernel later.  0 or -ENOMEM. */
int fi_samples_init(fi_samples *s, uint32_t deques, size_t bytes);
void fi_samples_fini(fi_samples *s);

/* [sampler] Where the next one is to be written; then it is. */
fi_sample *fi_samples_next(fi_samples *s);
void fi_samples_took(fi_samples *s);

/* [any, when nobody samples] The i-th of those that are there, the oldest first; how many. */
uint64_t fi_samples_n(const fi_samples *s);
const fi_sample *fi_samples_at(const fi_samples *s, uint64_t i);

/* [any, when nobody samples] All of them into a file, after a head that is filled in as far as it is about them.  0 or
 * -errno. */
int fi_samples_write(const fi_samples *s, filch_samples_head *head, int fd);

#endif
