/* The file that FILCH_SAMPLE asks for: what the deques of all workers counted, many times a second.
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
 *     columns * char[FILCH_SAMPLES_NAME]      what each column is called
 *     samples * { uint64_t stamp;             ticks
 *                 uint32_t value[deques][columns]; and 4 bytes of nothing where sample_size needs them }
 *
 * Values are counted since the runtime began, and wrap.  So does the size of a deque, up - down - top, which fits all the
 * same: take it as an int32_t.  The numbers of one sample were read one after the other, while workers go on; see
 * filch-samples(5).  Where three or more samples in a row differ in nothing but their stamp, only the first and the last are
 * there.
 */
#ifndef FILCH_SAMPLES_H
#define FILCH_SAMPLES_H

#include <filch/version.h>

#include <stdint.h>

FILCH_BEGIN_DECLS

#define FILCH_SAMPLES_MAGIC   "FilchSmp" /* and no 0 */
#define FILCH_SAMPLES_VERSION 1u
#define FILCH_SAMPLES_NAME    32

typedef struct filch_samples_head {
    char magic[8];
    uint32_t version;
    uint32_t head_size;   /* bytes before the first sample */
    uint32_t sample_size; /* bytes from one sample to the next; a multiple of 8 */
    uint32_t deques;      /* one for each worker */
    uint32_t columns;     /* of each deque */
    uint32_t
        eager; /* 1: each task was published when it was spawned; 0: when somebody was hungry */
    uint32_t steal_batch; /* k: the most that one steal took */
    uint32_t zero;
    uint64_t ticks_per_second;
    uint64_t samples;  /* in this file */
    uint64_t taken;    /* how often the sampler looked */
    uint64_t torn;     /* looks during which the sampler was interrupted, and that it took again */
    uint64_t lost;     /* samples that had to make room for younger ones */
    char kind[16];     /* of deque: locked, bounded, batch, half */
    char clock[16];    /* tsc, cntvct or monotonic */
    char program[128]; /* with its arguments, as far as they fit */
} filch_samples_head;

/* The columns, in this order.  Readers of other versions may look for their names. */
enum {
    FILCH_SAMPLES_BOTTOM_INCS, /* times the bottom was raised (Kuchumov's B+) */
    FILCH_SAMPLES_BOTTOM_DECS, /* times it was lowered (B-) */
    FILCH_SAMPLES_TOP,         /* pieces of work that left at the thieves' end (T) */
    FILCH_SAMPLES_PUSHES,
    FILCH_SAMPLES_POPS,
    FILCH_SAMPLES_POPS_FAILED,
    FILCH_SAMPLES_STEALS_SINGLE, /* these and all below but the last: by the worker, from others */
    FILCH_SAMPLES_STEALS_SINGLE_FAILED,
    FILCH_SAMPLES_STEALS_MULTIPLE,
    FILCH_SAMPLES_STEALS_MULTIPLE_FAILED,
    FILCH_SAMPLES_STOLEN,
    FILCH_SAMPLES_RESIZES,
    FILCH_SAMPLES_COLUMNS
};

FILCH_END_DECLS

#endif
