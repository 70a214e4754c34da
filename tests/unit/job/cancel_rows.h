/* The table of filch-cancel(7): each row is a wait, which runs in a fiber, in a member of a group
 * and in a job.  These are cancelled after the wait has begun, or before it. */
#ifndef TESTS_UNIT_JOB_CANCEL_ROWS_H
#define TESTS_UNIT_JOB_CANCEL_ROWS_H

#include "unit/job/jobs.h"

#include "sched/worker.h"

#include <filch/fiber.h>

/* The deadline of a wait that has one.  A wait that is not interrupted ends with another result. */
#define LATE (filch_now() + FILCH_S(30))

/* Define a function of a row that makes one call. */
#define WAIT(name, call)                                                                           \
    static int name(void)                                                                          \
    {                                                                                              \
        return (int)(call);                                                                        \
    }

typedef struct row {
    const char *name;  /* of the function; tests/api/headers/cancel_table_test.sh reads it */
    int (*wait)(void); /* must return -ECANCELED, or 0 if it is not interrupted */
    bool is_interrupted;
    void (*hold)(void);    /* called before the wait, which must last; NULL: it does */
    void (*release)(void); /* ends what hold has begun, and a wait that is not interrupted */
} row;

typedef struct waiting {
    const row *row;
    bool waits_for_cancel;
    atomic_bool began, released, ended;
    fi_fiber *fiber;
    int result;
} waiting;

static inline void row_run(waiting *w)
{
    w->fiber = fi_fiber_self();
    atomic_store(&w->began, true);
    while (w->waits_for_cancel && !filch_fiber_is_cancelled())
        filch_yield();
    w->result = w->row->wait();
    if (!w->row->is_interrupted && !atomic_load(&w->released))
        w->result = -EINTR;
    atomic_store(&w->ended, true);
}

static inline void row_run_member(void *w)
{
    row_run(w);
}

static inline void *row_run_fiber(void *w)
{
    row_run(w);
    return NULL;
}

static inline void row_await_began(waiting *w)
{
    while (!atomic_load(&w->began))
        filch_yield();
}

/* A fiber that waits for a stolen task alone is not seen here. */
static inline void row_await_parked(waiting *w)
{
    while (!atomic_load(&w->ended) && !fi_load_relaxed(&w->fiber->waiting))
        filch_yield();
}

/* The wait has begun, unless it begins after the cancellation. */
static inline void row_before_cancel(waiting *w)
{
    row_await_began(w);
    if (!w->waits_for_cancel)
        row_await_parked(w);
}

/* A wait that was interrupted by mistake gets the time to return. */
static inline void row_after_cancel(waiting *w)
{
    if (w->row->is_interrupted)
        return;
    row_await_parked(w);
    for (int i = 0; i < 20; i++)
        filch_yield();
    atomic_store(&w->released, true);
    w->row->release();
}

static inline int row_in_group(waiting *w)
{
    filch_group g = FILCH_GROUP_INIT;

    filch_group_run(&g, row_run_member, w);
    row_before_cancel(w);
    filch_group_cancel(&g);
    row_after_cancel(w);
    return filch_group_wait(&g) == -ECANCELED ? w->result : -EIO;
}

static inline int row_in_job(waiting *w)
{
    filch_job *j = filch_job_new(row_run_member, w);

    filch_job_submit(j);
    row_before_cancel(w);
    filch_job_cancel(j);
    row_after_cancel(w);
    return filch_job_wait(j) == -ECANCELED ? w->result : -EIO;
}

static inline int row_in_fiber(waiting *w)
{
    filch_fiber *f = filch_fiber_start(row_run_fiber, w);

    row_before_cancel(w);
    filch_fiber_cancel(f);
    row_after_cancel(w);
    return filch_fiber_join(f, NULL) == 0 ? w->result : -EIO;
}

/* Returns the number of wrong results. */
static inline int row_check(const row *r)
{
    static int (*const in[])(waiting *) = {row_in_group, row_in_job, row_in_fiber};
    static const char *const names[] = {"group", "job", "fiber"};
    const int expected = r->is_interrupted ? -ECANCELED : 0;
    int wrong = 0;

    for (int i = 0; i < 6; i++) {
        waiting w = {.row = r, .waits_for_cancel = i % 2};
        int result;
        if (r->hold)
            r->hold();
        result = in[i / 2](&w);
        if (r->release && r->is_interrupted)
            r->release();
        if (result == expected)
            continue;
        fprintf(stderr, "%s in a %s, cancelled %s: %d, not %d\n", r->name, names[i / 2],
                w.waits_for_cancel ? "before" : "during the wait", result, expected);
        wrong++;
    }
    return wrong;
}

static inline intptr_t rows_check(const row *rows, size_t n)
{
    intptr_t wrong = 0;

    for (size_t i = 0; i < n; i++)
        wrong += row_check(&rows[i]);
    return wrong;
}

#endif
