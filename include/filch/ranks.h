/* The table of ranks that a program on several processes publishes: filch top --ranks reads it.
 *
 *     #include <filch/ranks.h>
 *     #include <stdio.h>
 *
 *     int main(int argc, char **argv)
 *     {
 *         filch_ranks_head head; // the argument is /proc/PID/fd/N, a link to /memfd:filch-cluster
 *         FILE *in = fopen(argc > 1 ? argv[1] : "/dev/null", "rb");
 *         if (!in || fread(&head, sizeof head, 1, in) != 1)
 *             return puts("no table of ranks"), argc > 1;
 *         printf("%u ranks, %llu items\n", head.ranks, (unsigned long long)head.sums.items);
 *         return fclose(in);
 *     }
 *
 * Rank 0 has the table in a memory file with the name FILCH_RANKS_NAME (memfd_create(2)).  Its size
 * does not change, and it is sealed against that.  Layout, all numbers in the byte order of the
 * machine:
 *
 *     filch_ranks_head, at offset 0                        filled up to head_size
 *     rows * filch_ranks_row, from offset head_size on     filled up to row_size
 *
 * A later version may append fields to both structs, and then has larger sizes.
 *
 * Rank 0 changes the table while others read it.  Each aligned word of 8 bytes is written at once.
 * The words of a row may be of different moments.  Counters count from the start of the program and
 * do not decrease.  Times are nanoseconds of CLOCK_MONOTONIC on the machine of rank 0, except for
 * durations.
 */
#ifndef FILCH_RANKS_H
#define FILCH_RANKS_H

#include <filch/version.h>

#include <stdint.h>

FILCH_BEGIN_DECLS

#define FILCH_RANKS_NAME    "filch-cluster"
#define FILCH_RANKS_MAGIC   "FilchRnk" /* without a terminating 0 */
#define FILCH_RANKS_VERSION 1u
#define FILCH_RANKS_ROWS    4096 /* with more ranks there are no rows, only sums */
#define FILCH_RANKS_HOST    32

/* What rank 0 knows about all ranks.  A value may be a second old. */
typedef struct filch_ranks_sums {
    uint64_t updated_ns;     /* time of the last change of the sums */
    uint64_t run;            /* number of the last run, from 1 on; 0: there was none */
    uint64_t run_started_ns; /* time; 0: no run is in progress */
    uint64_t items;          /* processed */
    uint64_t loots;          /* steals between ranks that moved work */
    uint64_t bytes;          /* of these loots */
    uint64_t busy;           /* ranks with work */
    uint64_t silence_ns;     /* the longest time for which a rank has not been heard of */
} filch_ranks_sums;

typedef struct filch_ranks_head {
    char magic[8];
    uint32_t version;
    uint32_t head_size; /* bytes before the first row; a multiple of 8 */
    uint32_t row_size;  /* bytes from one row to the next; a multiple of 8 */
    uint32_t ranks;
    uint32_t rows;       /* ranks, or 0 if there are more than FILCH_RANKS_ROWS */
    uint32_t pid;        /* of rank 0 */
    uint64_t started_ns; /* time of the start of the program */
    filch_ranks_sums sums;
} filch_ranks_head;

typedef struct filch_ranks_row {
    uint32_t rank;
    uint32_t pid;                /* on its host */
    char host[FILCH_RANKS_HOST]; /* terminated by 0, truncated */
    uint32_t workers;
    uint32_t lanes; /* parts of work in progress; 0: the rank has no work */
    uint64_t items;
    uint64_t loots_in, loots_out;
    uint64_t bytes_in, bytes_out;
    uint64_t asks;      /* questions for work to other ranks */
    uint64_t hungry_ns; /* duration without enough work, within runs */
    uint64_t heard_ns;  /* time at which rank 0 last heard of this rank; 0: never */
} filch_ranks_row;

FILCH_END_DECLS

#endif
