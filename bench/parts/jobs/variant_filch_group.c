/* Filch's groups: functions without a handle. */
#include "variant.h"

#include <filch/job.h>
#include <filch/task.h>
#include <stdlib.h>

typedef void work_function(void *arg);
typedef void body_function(size_t lo, size_t hi, void *ctx);

static void run(filch_group *g, work_function *work, void *arg)
{
    if (filch_group_run(g, work, arg) != 0)
        abort();
}

/* ---- single jobs ---- */

FILCH_VOID_TASK(single, size_t, n, work_function *, work, char *, args)
{
    filch_group g = FILCH_GROUP_INIT;
    for (size_t i = 0; i < n; i++)
        run(&g, work, &args[i]);
    if (filch_group_wait(&g) != 0)
        abort();
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
} loop;

typedef struct range {
    const loop *loop;
    size_t lo, hi;
} range;

/* Submit one half to a group, run the other half, then wait for the group. */
static void run_range(void *arg)
{
    range *r = arg;
    if (r->hi - r->lo > r->loop->leaf) {
        size_t middle = r->lo + (r->hi - r->lo) / 2;
        range right = {r->loop, middle, r->hi}, left = {r->loop, r->lo, middle};
        filch_group g = FILCH_GROUP_INIT;
        run(&g, run_range, &right);
        run_range(&left);
        if (filch_group_wait(&g) != 0)
            abort();
    } else {
        r->loop->body(r->lo, r->hi, r->loop->ctx);
    }
}

FILCH_VOID_TASK(run_loop, loop *, l, size_t, n)
{
    range all = {l, 0, n};
    run_range(&all);
}

void variant_for(size_t n, size_t leaf, body_function *body, void *ctx)
{
    loop l = {body, ctx, leaf};
    FILCH_RUN(run_loop, &l, n);
}
