/* Workers, job allocation and work stealing of the classical job system that Filch is compared with
 * (classic.h). */
#define _GNU_SOURCE
#include "classic.h"

#include "base/mem.h"
#include "base/rng.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct worker {
    FI_CACHE_ALIGNED fi_deque *deque;
    classic_job *ring; /* NULL: malloc */
    unsigned next;     /* job of the ring, masked on access */
    fi_rng rng;
    pthread_t thread;
} worker;

static worker *workers;
static unsigned worker_count;
static atomic_bool stopping;
static _Thread_local worker *self;

static _Noreturn void die(const char *why)
{
    fprintf(stderr, "jobs: %s\n", why);
    abort();
}

/* ---- allocation of jobs ---- */

/* Jobs are not returned to the ring: a job is done long before its slot is reused. */
static classic_job *job_from_ring(worker *w)
{
    classic_job *job = &w->ring[w->next++ & (CLASSIC_MAX - 1)];
    if (atomic_load_explicit(&job->unfinished, memory_order_relaxed) != 0)
        die("more unfinished jobs than ring slots");
    return job;
}

static classic_job *job_from_heap(void)
{
    classic_job *job = malloc(sizeof *job);
    if (!job)
        die("out of memory for a job");
    return job;
}

static classic_job *make_job(void (*work)(classic_job *job), classic_job *parent)
{
    classic_job *job = self->ring ? job_from_ring(self) : job_from_heap();
    job->work = work;
    job->parent = parent;
    atomic_store_explicit(&job->unfinished, 1, memory_order_relaxed); /* a deque publishes it */
    return job;
}

static void job_free(classic_job *job)
{
    if (!self->ring)
        free(job);
}

/* ---- jobs ---- */

classic_job *classic_new(void (*work)(classic_job *job))
{
    return make_job(work, NULL);
}

/* relaxed: the parent cannot finish before its child, so no thread waits for 0 yet. */
classic_job *classic_child(classic_job *parent, void (*work)(classic_job *job))
{
    atomic_fetch_add_explicit(&parent->unfinished, 1, memory_order_relaxed);
    return make_job(work, parent);
}

void classic_run(classic_job *job)
{
    if (fi_deque_push(self->deque, job) < 0)
        die("the deque is full");
}

/* Decrement `unfinished`; true if it reaches 0.  Only an unfinished job creates children, so a
 * thread that reads 1 is the last one and needs no read-modify-write.  Most jobs have no
 * children. */
static bool is_last_part(classic_job *job)
{
    if (atomic_load_explicit(&job->unfinished, memory_order_acquire) != 1)
        return atomic_fetch_sub_explicit(&job->unfinished, 1, memory_order_acq_rel) == 1;
    atomic_store_explicit(&job->unfinished, 0, memory_order_release);
    return true;
}

/* The last child finishes its parent.  A root job is freed by its waiter. */
static void finish_job(classic_job *job)
{
    while (job) {
        classic_job *parent = job->parent;
        if (!is_last_part(job))
            return;
        if (parent)
            job_free(job);
        job = parent;
    }
}

static void run_job(classic_job *job)
{
    job->work(job);
    finish_job(job);
}

/* ---- workers ---- */

/* Try a random victim; NULL if that is ourselves. */
static void *steal_job(void)
{
    void *job;
    const worker *victim = &workers[fi_rng_below(&self->rng, worker_count)];
    return victim != self && fi_deque_steal(victim->deque, &job, 1) == 1 ? job : NULL;
}

/* Our newest job, else the oldest of a victim.  Yields the CPU and returns NULL if there is
 * none. */
static classic_job *find_job(void)
{
    void *job = fi_deque_pop(self->deque);
    if (!job)
        job = steal_job();
    if (!job)
        sched_yield();
    return job;
}

static void run_any_job(void)
{
    classic_job *job = find_job();
    if (job)
        run_job(job);
}

void classic_wait(classic_job *job)
{
    while (atomic_load_explicit(&job->unfinished, memory_order_acquire) != 0)
        run_any_job();
    job_free(job);
}

static void *worker_main(void *arg)
{
    self = arg;
    while (!atomic_load_explicit(&stopping, memory_order_acquire))
        run_any_job();
    return NULL;
}

/* ---- start and stop ---- */

static void free_workers(void)
{
    for (unsigned i = 0; i < worker_count; i++) {
        fi_deque_free(workers[i].deque);
        FI_DELETE_ARRAY(classic_job, workers[i].ring, CLASSIC_MAX);
    }
    FI_DELETE_ARRAY(worker, workers, worker_count);
}

/* Write to the ring here, so that no run includes page faults. */
static classic_job *make_ring(void)
{
    classic_job *ring = FI_NEW_ARRAY(classic_job, CLASSIC_MAX);
    for (size_t i = 0; ring && i < CLASSIC_MAX; i++)
        atomic_init(&ring[i].unfinished, 0);
    return ring;
}

static int make_worker(worker *w, const classic_choice *choice)
{
    const fi_deque_config config = {.capacity = CLASSIC_MAX};
    int e = fi_deque_new(choice->deque, &config, &w->deque);
    if (e < 0)
        return e;
    fi_rng_seed(&w->rng, (uint64_t)(w - workers));
    if (choice->rings)
        w->ring = make_ring();
    return choice->rings && !w->ring ? -ENOMEM : 0;
}

static int make_workers(const classic_choice *choice, unsigned n)
{
    int e = 0;
    workers = FI_NEW_ARRAY(worker, n);
    if (!workers)
        return -ENOMEM;
    worker_count = n;
    for (unsigned i = 0; i < n && e == 0; i++)
        e = make_worker(&workers[i], choice);
    if (e < 0)
        free_workers();
    return e;
}

static void stop_workers(unsigned n)
{
    atomic_store(&stopping, true);
    for (unsigned i = 1; i < n; i++)
        pthread_join(workers[i].thread, NULL);
    free_workers();
}

const char *classic_start(const classic_choice *choice, unsigned n)
{
    int e = make_workers(choice, n);
    if (e < 0)
        return strerror(-e);
    self = &workers[0];
    atomic_store(&stopping, false);
    for (unsigned i = 1; i < n; i++) {
        e = pthread_create(&workers[i].thread, NULL, worker_main, &workers[i]);
        if (e != 0) {
            stop_workers(i);
            return strerror(e);
        }
    }
    return NULL;
}

void classic_stop(void)
{
    stop_workers(worker_count);
}
