/* What filch top sees of a process: a page of memory that both have, for programs that want to see it too.
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
 * A process with FILCH_TOP=1 in its environment (or filch_config.top) has the page as a file of its own that is called
 * memfd:filch-top in /proc/PID/fd.  Nothing is written there until somebody asks:
 *
 *     who looks                                           a thread of the process
 *     open the file, lock it by flock(2), map it          sleep on wanted (futex(2), not private)
 *     say which part is wanted, count up wanted, wake      read wanted, fill the page
 *     sleep on done until it is the number wanted had     write that number to done, wake
 *     read the page, before asking again
 *
 * Both words are written with release and read with acquire.  The layout is that of one version of Filch: the reader
 * compares version and size.
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
    FILCH_TOP_TEXT = 32,  /* bytes of a name or a reason, with the 0 behind it */
    FILCH_TOP_KINDS = 16, /* of waiting */
    FILCH_TOP_WAITS = 16, /* the longest */
};

typedef enum filch_top_part {
    FILCH_TOP_ALL,
    FILCH_TOP_WORKERS, /* and nothing of the fibers, of which there may be many */
} filch_top_part;

typedef enum filch_top_state {
    FILCH_TOP_ASLEEP,
    FILCH_TOP_SEARCHING, /* awake, and runs nothing */
    FILCH_TOP_BUSY,
} filch_top_state;

typedef struct filch_top_worker {
    uint32_t state;               /* a filch_top_state */
    uint32_t caller_runs;         /* a thread from outside runs it */
    uint64_t deque, ready, inbox; /* how much lies in its queues */
    char runs[FILCH_TOP_TEXT];    /* what its fiber is called */
    filch_counters counters;
} filch_top_worker;

/* Fibers that wait for the same kind of thing. */
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
    uint32_t size; /* of all of it, in bytes */
    int32_t pid;
    uint32_t workers;
    uint32_t wanted; /* written by who looks */
    uint32_t part;   /* likewise, before that */
    uint32_t done;
    uint32_t stopped; /* the runtime is over: done will not change any more */

    int64_t now_ns, began_ns;             /* by CLOCK_MONOTONIC */
    uint64_t shared, high, low;           /* how much lies in the queues of all */
    uint64_t running, ready, waiting;     /* fibers */
    uint64_t other_kinds;                 /* of the waiting: those that are not in kind */
    filch_top_kind kind[FILCH_TOP_KINDS]; /* ended by one without fibers, or full */
    filch_top_wait
        wait[FILCH_TOP_WAITS];  /* the longest first; ended by one without a fiber, or full */
    filch_top_worker worker[1]; /* as many as there are */
} filch_top;

#define FILCH_TOP_SIZE(workers) (offsetof(filch_top, worker) + (workers) * sizeof(filch_top_worker))

#endif
