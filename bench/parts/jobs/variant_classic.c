/* The variants on the classical job system.  Macros choose allocator and deque. */
#include "bench.h"
#include "classic.h"
#include "mutex_deque.h"
#include "variant.h"

static const classic_choice choice = {.deque = &BENCH_DEQUE, .rings = BENCH_RINGS};

const char *const bench_runtime = BENCH_VARIANT;

const char *bench_runtime_start(unsigned workers)
{
    return classic_start(&choice, workers);
}

void bench_runtime_report(FILE *out)
{
    (void)out;
}

void bench_runtime_stop(void)
{
    classic_stop();
}

/* ---- single jobs ---- */

typedef struct call {
    void (*work)(void *arg);
    void *arg;
} call;

static void run_call(classic_job *job)
{
    const call *c = (const call *)job->data;
    c->work(c->arg);
}

static void nothing(classic_job *job)
{
    (void)job;
}

void variant_single(size_t n, void (*work)(void *arg), char *args)
{
    classic_job *root = classic_new(nothing);
    for (size_t i = 0; i < n; i++) {
        classic_job *job = classic_child(root, run_call);
        *(call *)job->data = (call){work, &args[i]};
        classic_run(job);
    }
    classic_run(root);
    classic_wait(root);
}

/* ---- parallel_for ---- */

typedef struct loop {
    void (*body)(size_t lo, size_t hi, void *ctx);
    void *ctx;
    size_t leaf;
} loop;

typedef struct range {
    const loop *loop;
    size_t lo, hi;
} range;

_Static_assert(sizeof(range) <= CLASSIC_DATA, "the data of a job");

static void run_range(classic_job *job);

static void run_part(classic_job *parent, const loop *l, size_t lo, size_t hi)
{
    classic_job *job = classic_child(parent, run_range);
    *(range *)job->data = (range){l, lo, hi};
    classic_run(job);
}

/* Split the range into two child jobs, down to the leaves.  The job does not wait for them. */
static void run_range(classic_job *job)
{
    range r = *(range *)job->data;
    if (r.hi - r.lo <= r.loop->leaf) {
        r.loop->body(r.lo, r.hi, r.loop->ctx);
        return;
    }
    size_t middle = r.lo + (r.hi - r.lo) / 2;
    run_part(job, r.loop, r.lo, middle);
    run_part(job, r.loop, middle, r.hi);
}

void variant_for(size_t n, size_t leaf, void (*body)(size_t lo, size_t hi, void *ctx), void *ctx)
{
    loop l = {body, ctx, leaf};
    classic_job *root = classic_new(run_range);
    *(range *)root->data = (range){&l, 0, n};
    classic_run(root);
    classic_wait(root);
}
