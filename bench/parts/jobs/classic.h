/* A classical job system, as the series "Job System 2.0" (Molecular Matters) describes it.  A job
 * has a parent and counts its unfinished parts, each worker has a deque, and a waiting thread runs
 * other jobs.  One difference: here the thread that finishes a job from malloc frees it; there the
 * job is put into a list and freed at the end of a frame.
 *
 * The allocator and the deque are parameters, so that each can be measured alone.
 */
#ifndef BENCH_JOBS_CLASSIC_H
#define BENCH_JOBS_CLASSIC_H

#include "base/compiler.h"
#include "deque/deque.h"

#include <stdatomic.h>
#include <stdbool.h>

typedef struct classic_choice {
    const fi_deque_ops *deque;
    bool rings; /* allocate jobs from a ring per worker instead of malloc */
} classic_choice;

enum {
    CLASSIC_DATA = 40,
    CLASSIC_MAX = 1 << 16
}; /* bytes for the user's data; capacity of a ring or deque */

/* One cache line, to avoid false sharing between adjacent jobs. */
typedef struct classic_job {
    void (*work)(struct classic_job *job);
    struct classic_job *parent;
    atomic_int unfinished; /* the job itself plus its children; 0: done */
    _Alignas(8) char data[CLASSIC_DATA];
} classic_job;

_Static_assert(sizeof(classic_job) == FI_CACHE_LINE, "a job is a cache line");

/* [any] Start the workers.  The caller becomes the first one.  Returns NULL or an error text. */
const char *classic_start(const classic_choice *choice, unsigned workers);

/* [first worker] */
void classic_stop(void);

/* Call the following functions from workers only, that is, from jobs or the first worker. */

/* Create a root job.  The caller must wait for it. */
classic_job *classic_new(void (*work)(classic_job *job));

/* Create a child of an unfinished parent.  The parent finishes after it. */
classic_job *classic_child(classic_job *parent, void (*work)(classic_job *job));

/* Submit the job. */
void classic_run(classic_job *job);

/* Run other jobs until this root job is done, then free it. */
void classic_wait(classic_job *job);

#endif
