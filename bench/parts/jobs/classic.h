/* A job system of the classical kind, as the series "Job System 2.0" describes it: a job has a parent and counts what is
 * unfinished of it, each worker has a deque, and who waits runs other jobs meanwhile.  One thing is better here: a job from
 * malloc is freed by who finishes it.  There it is noted in a list of all workers, and freed at the end of a frame.
 *
 * Where jobs come from and what they lie in is to be chosen, so that each choice can be measured alone.  All the
 * rest is the same code for every choice.
 */
#ifndef BENCH_JOBS_CLASSIC_H
#define BENCH_JOBS_CLASSIC_H

#include "base/compiler.h"
#include "deque/deque.h"

#include <stdatomic.h>
#include <stdbool.h>

typedef struct classic_choice {
    const fi_deque_ops *deque;
    bool rings; /* jobs come from a ring of each worker, not from malloc */
} classic_choice;

enum { CLASSIC_DATA = 40, CLASSIC_MAX = 1 << 16 }; /* bytes for the work; jobs in a ring or deque */

/* One cache line, so that workers do not disturb each other by jobs that are neighbours. */
typedef struct classic_job {
    void (*work)(struct classic_job *job);
    struct classic_job *parent;
    atomic_int unfinished; /* the job itself and its children; 0: done */
    _Alignas(8) char data[CLASSIC_DATA];
} classic_job;

_Static_assert(sizeof(classic_job) == FI_CACHE_LINE, "a job is a cache line");

/* [any] The caller becomes the first worker, and threads are the others.  NULL, or why not. */
const char *classic_start(const classic_choice *choice, unsigned workers);

/* [first worker] */
void classic_stop(void);

/* The following are for workers, and so for the work of jobs. */

/* A job without a parent, to be waited for by who made it. */
classic_job *classic_new(void (*work)(classic_job *job));

/* One that its parent is not done without.  The parent is not done yet. */
classic_job *classic_child(classic_job *parent, void (*work)(classic_job *job));

/* It may begin. */
void classic_run(classic_job *job);

/* Run other jobs until this one, of classic_new, is done; then it is gone. */
void classic_wait(classic_job *job);

#endif
