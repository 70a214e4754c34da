/* Filch's jobs, which have handles and parents: the same graph as with the classical job system. */
#include "variant.h"

#include <filch/job.h>
#include <filch/task.h>
#include <stdlib.h>

typedef void work_function(void *arg);
typedef void body_function(size_t lo, size_t hi, void *ctx);

static filch_job *must(filch_job *job)
{
    if (!job)
        abort();
    return job;
}

/* The parent owns the child from here on. */
static void run_child(filch_job *child, filch_job *parent)
{
    if (filch_job_set_parent(must(child), parent) != 0 || filch_job_submit(child) != 0)
        abort();
}

static void run_root(filch_job *root)
{
    if (filch_job_submit(root) != 0 || filch_job_wait(root) != 0)
        abort();
}

/* ---- single jobs ---- */

static void nothing(void *arg)
{
    (void)arg;
}

FILCH_VOID_TASK(single, size_t, n, work_function *, work, char *, args)
{
    filch_job *root = must(filch_job_new(nothing, NULL));
    for (size_t i = 0; i < n; i++)
        run_child(filch_job_new(work, &args[i]), root);
    run_root(root);
}

void variant_single(size_t n, work_function *work, char *args)
{
    FILCH_RUN(single, n, work, args);
}

/* ---- parallel_for ---- */

typedef struct loop {
    body_function *body;
    void *ctx;
    size_t leaf;
    filch_job *root; /* the parent of all jobs: a job function does not know its own job */
} loop;

typedef struct range {
    const loop *loop;
    size_t lo, hi;
} range;

static void run_range(void *copy);

static void run_part(const loop *l, size_t lo, size_t hi)
{
    range r = {l, lo, hi};
    run_child(filch_job_new_copy(run_range, &r, sizeof r), l->root);
}

static void run_range(void *copy)
{
    const range *r = copy;
    if (r->hi - r->lo <= r->loop->leaf) {
        r->loop->body(r->lo, r->hi, r->loop->ctx);
        return;
    }
    size_t middle = r->lo + (r->hi - r->lo) / 2;
    run_part(r->loop, r->lo, middle);
    run_part(r->loop, middle, r->hi);
}

FILCH_VOID_TASK(run_loop, loop *, l, size_t, n)
{
    range all = {l, 0, n};
    l->root = must(filch_job_new_copy(run_range, &all, sizeof all));
    run_root(l->root);
}

void variant_for(size_t n, size_t leaf, body_function *body, void *ctx)
{
    loop l = {body, ctx, leaf, NULL};
    FILCH_RUN(run_loop, &l, n);
}
