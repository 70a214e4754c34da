/* The file format of FILCH_SAMPLE: samples of the counters of all deques, many per second.
 *
 *     #include <filch/samples.h>
 *     #include <stdio.h>
 *
 *     int main(int argc, char **argv)
 *     {
 *         filch_samples_head head;
 *         FILE *in = fopen(argc > 1 ? argv[1] : "/dev/null", "rb");
 *         if (!in || fread(&head, sizeof head, 1, in) != 1)
 *             return puts("no samples"), argc > 1;
 *         printf("%llu samples of %u deques\n", (unsigned long long)head.samples, head.deques);
 *         return fclose(in);
 *     }
 *
 * Layout, all numbers in the byte order of the machine that wrote it:
 *
 *     filch_samples_head
 *     columns * char[FILCH_SAMPLES_NAME]      the names of the columns
 *     samples * { uint64_t stamp;             ticks
 *                 uint32_t value[deques][columns]; }  padded to sample_size
 *
 * Values are counted since the start of the runtime, and wrap.  The size of a deque is
 * bottom_incs - bottom_decs - top, as an int32_t.  The values of one sample were read one after
 * the other, while the workers ran (see filch-samples(5)).  Of three or more equal samples in a
 * row, only the first and the last are in the file.
 */
#ifndef FILCH_SAMPLES_H
#define FILCH_SAMPLES_H

#include <filch/version.h>

#include <stdint.h>

FILCH_BEGIN_DECLS

#define FILCH_SAMPLES_MAGIC   "FilchSmp" /* without a terminating 0 */
#define FILCH_SAMPLES_VERSION 1u
#define FILCH_SAMPLES_NAME    32

typedef struct filch_samples_head {
    char magic[8];
    uint32_t version;
    uint32_t head_size;   /* bytes before the first sample */
    uint32_t sample_size; /* bytes from one sample to the next; a multiple of 8 */
    uint32_t deques;      /* one for each worker */
    uint32_t columns;     /* of each deque */
    uint32_t eager;       /* 1: publish was eager; 0: lazy */
    uint32_t steal_batch; /* the maximum number of items per steal */
    uint32_t zero;
    uint64_t ticks_per_second;
    uint64_t samples;  /* in this file */
    uint64_t taken;    /* samples taken */
    uint64_t retried;  /* interrupted samples, which were taken again */
    uint64_t dropped;  /* old samples that were overwritten */
    char kind[16];     /* the deque: locked, bounded or batch */
    char clock[16];    /* tsc, cntvct or monotonic */
    char program[128]; /* with its arguments, truncated */
} filch_samples_head;

/* The columns in this order.  A reader of files of other versions searches for their names. */
enum {
    FILCH_SAMPLES_BOTTOM_INCS, /* increments of bottom (B+ of Kuchumov 2016) */
    FILCH_SAMPLES_BOTTOM_DECS, /* decrements of bottom (B-) */
    FILCH_SAMPLES_TOP,         /* items that left at the top (T) */
    FILCH_SAMPLES_PUSHES,
    FILCH_SAMPLES_POPS,
    FILCH_SAMPLES_POPS_FAILED,
    FILCH_SAMPLES_STEALS_SINGLE, /* this and the next four: by this worker, from other deques */
    FILCH_SAMPLES_STEALS_SINGLE_FAILED,
    FILCH_SAMPLES_STEALS_MULTIPLE,
    FILCH_SAMPLES_STEALS_MULTIPLE_FAILED,
    FILCH_SAMPLES_STOLEN,
    FILCH_SAMPLES_RESIZES,
    FILCH_SAMPLES_COLUMNS
};

FILCH_END_DECLS

#endif
