/* Every allocation of groups, strands and jobs fails once: the caller gets the error, and started
 * work still ends. */
#include "fault/rounds.h"

#include <stdatomic.h>

static atomic_int ran;

static void count(void *arg)
{
    (void)arg;
    atomic_fetch_add(&ran, 1);
}

/* More than a slab of records. */
enum { MANY = 100 };

static int run_group(void)
{
    filch_group g = FILCH_GROUP_INIT;
    int given = 0, e;

    atomic_store(&ran, 0);
    for (int i = 0; i < MANY; i++)
        given += filch_group_run(&g, count, NULL) == 0;
    e = filch_group_wait(&g);
    CHECK_INT(atomic_load(&ran), given);
    CHECK_INT(e, given == MANY ? 0 : -ENOMEM);
    return e;
}

static int run_strand(void)
{
    filch_strand s = FILCH_STRAND_INIT;
    int given = 0, last = 0;

    atomic_store(&ran, 0);
    for (int i = 0; i < MANY; i++)
        given += filch_strand_run(&s, count, NULL) == 0;
    last = filch_strand_call(&s, count, NULL); /* needs no memory */
    CHECK_INT(filch_strand_stop(&s), 0);
    CHECK_INT(last, 0);
    CHECK_INT(atomic_load(&ran), given + 1);
    return given == MANY ? 0 : -ENOMEM;
}

/* One job depends on all others.  Its first edge needs no memory. */
static int run_jobs(void)
{
    filch_job *last = filch_job_new(count, NULL);
    int given = 0, e = 0;

    atomic_store(&ran, 0);
    if (!last)
        return -ENOMEM;
    for (int i = 0; i < MANY && e == 0; i++) {
        filch_job *j = filch_job_new(count, NULL);
        e = j ? filch_job_after(last, j) : -ENOMEM;
        if (j) {
            CHECK(i > 0 || e == 0);
            CHECK_INT(filch_job_submit(j), 0);
            if (e == 0)
                filch_job_release(j);
            else
                CHECK_INT(filch_job_wait(j), 0); /* no edge: the last job does not wait for it */
            given++;
        }
    }
    CHECK_INT(filch_job_submit(last), 0);
    CHECK_INT(filch_job_wait(last), 0);
    if (e == 0)
        CHECK_INT(atomic_load(&ran), given + 1);
    return e;
}

/* A group whose deadline could not be set has none. */
static int run_deadline(void)
{
    filch_group g = FILCH_GROUP_INIT;
    int e = filch_group_set_deadline(&g, filch_now() + FILCH_S(60));

    CHECK(e == 0 || e == -ENOMEM);
    CHECK_INT(filch_group_wait(&g), 0);
    return e;
}

/* The first error. */
static int run_all(void)
{
    int (*const parts[])(void) = {run_strand, run_group, run_jobs, run_deadline};
    int first = 0;

    for (int i = 0; i < 4; i++) {
        int e = parts[i]();
        if (first == 0)
            first = e;
    }
    return first;
}

static void memory_runs_out(void **state)
{
    (void)state;
    for (unsigned n = 1; n <= 2; n++) /* the runtime, the slabs of records, a task stack */
        CHECK(fault_rounds(run_all, (fault_round){.workers = n}) > 10);
}

CHECK_MAIN(memory_runs_out)
