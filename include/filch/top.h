/* The page of shared memory from which filch top reads the state of a process.
 *
 *     #include <filch/top.h>
 *     #include <stdio.h>
 *
 *     int main(void)
 *     {
 *         printf("the page of a process with 4 workers has %zu bytes\n", FILCH_TOP_SIZE(4));
 *         return 0;
 *     }
 *
 * A process with FILCH_TOP=1 in its environment (or filch_config.top) has the page as the file
 * memfd:filch-top in /proc/PID/fd.  The page is filled on request:
 *
 *     the reader                                  a thread of the process
 *     open the file, lock it by flock(2), map it  sleep on wanted (futex(2), not private)
 *     write part, increment wanted, wake          read wanted, fill the page
 *     sleep on done until it equals wanted        store that number in done, wake
 *     read the page before the next request
 *
 * Both words are stored with release and loaded with acquire.  The layout is that of one version of
 * Filch: the reader compares version and size.
 *
 * The size of the file is sealed (F_SEAL_SHRINK, F_SEAL_GROW, F_SEAL_SEAL of fcntl(2)).  The
 * process reads only wanted and part from the page.  A reader that does not trust the process
 * checks the seals before it maps the file, reads the number of workers once, and works on a copy.
 */
#ifndef FILCH_TOP_H
#define FILCH_TOP_H

#include <filch/stats.h>
#include <filch/version.h>

#include <stddef.h>
#include <stdint.h>

#define FILCH_TOP_FILE    "filch-top"
#define FILCH_TOP_MAGIC   UINT64_C(0x00706f7468636c66) /* "flchtop" */
#define FILCH_TOP_VERSION 1u

enum {
    FILCH_TOP_TEXT = 32,  /* bytes of a name, with the terminating 0 */
    FILCH_TOP_KINDS = 16, /* kinds of waits */
    FILCH_TOP_WAITS = 16, /* the longest waits */
};

typedef enum filch_top_part {
    FILCH_TOP_ALL,
    FILCH_TOP_WORKERS, /* the workers only, not the fibers */
} filch_top_part;

typedef enum filch_top_state {
    FILCH_TOP_ASLEEP,
    FILCH_TOP_SEARCHING, /* awake without work */
    FILCH_TOP_BUSY,
} filch_top_state;

typedef struct filch_top_worker {
    uint32_t state;               /* a filch_top_state */
    uint32_t caller_runs;         /* 1: a thread that called FILCH_RUN runs it */
    uint64_t deque, ready, inbox; /* sizes of its queues */
    char runs[FILCH_TOP_TEXT];    /* the name of its fiber */
    filch_counters counters;
} filch_top_worker;

/* The number of fibers that wait for one kind of object. */
typedef struct filch_top_kind {
    char what[FILCH_TOP_TEXT];
    uint64_t fibers;
} filch_top_kind;

typedef struct filch_top_wait {
    char name[FILCH_TOP_TEXT], what[FILCH_TOP_TEXT];
    uint64_t fiber, object; /* addresses */
    int64_t for_ns;
} filch_top_wait;

typedef struct filch_top {
    uint64_t magic;
    uint32_t version;
    uint32_t size; /* of the page, in bytes */
    int32_t pid;
    uint32_t workers;
    uint32_t wanted; /* written by the reader */
    uint32_t part;   /* written by the reader, before wanted */
    uint32_t done;
    uint32_t stopped; /* the runtime has stopped; done will not change any more */

    int64_t now_ns, began_ns;             /* of CLOCK_MONOTONIC */
    uint64_t shared, high, low;           /* sizes of the shared queues, by priority */
    uint64_t running, ready, waiting;     /* numbers of fibers */
    uint64_t other_kinds;                 /* waiting fibers that are not counted in kind */
    filch_top_kind kind[FILCH_TOP_KINDS]; /* ended by an entry with 0 fibers, if not full */
    filch_top_wait wait[FILCH_TOP_WAITS]; /* longest first; ended by an entry without a fiber */
    filch_top_worker worker[1];           /* one per worker */
} filch_top;

#define FILCH_TOP_SIZE(workers) (offsetof(filch_top, worker) + (workers) * sizeof(filch_top_worker))

#endif
