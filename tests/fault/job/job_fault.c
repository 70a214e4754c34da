/* Every allocation of groups and jobs fails once: the caller gets the error, and started work
 * still ends. */
#include "check.h"
#include "child.h"

#include "fault/inject.h"

#include <errno.h>
#include <filch/filch.h>
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

FILCH_TASK(int, run_both)
{
    int e = run_group(), other = run_jobs();

    return e < 0 ? e : other;
}

typedef struct round {
    unsigned fail_at, workers;
} round_;

enum { RIGHT = 0, NOT_REACHED = 10, WRONG = 20 };

/* In a child process, as a runtime without memory for a single fiber aborts. */
static void run_child(void *arg)
{
    const round_ *r = arg;
    filch_config c = {.workers = r->workers};
    int outside = 0, inside = 0;

    alarm(600);
    inject_start(r->fail_at, false);
    if (filch_start(&c) == 0) {
        outside = run_group();
        if (outside == 0)
            outside = run_jobs();
        inside = FILCH_RUN(run_both);
        filch_stop();
    }
    if ((outside != 0 && outside != -ENOMEM) || (inside != 0 && inside != -ENOMEM))
        _exit(WRONG);
    _exit(inject_stop() ? RIGHT : NOT_REACHED);
}

/* RIGHT, NOT_REACHED or WRONG. */
static int result_of(round_ r)
{
    struct child_end end;

    CHECK_INT(child_end_of(&end, run_child, &r), 0);
    if (WIFSIGNALED(end.status) && WTERMSIG(end.status) == SIGABRT &&
        strncmp(end.text, "filch: no memory for ", 21) == 0)
        return RIGHT;
    if (!WIFEXITED(end.status) ||
        (WEXITSTATUS(end.status) != RIGHT && WEXITSTATUS(end.status) != NOT_REACHED))
        fprintf(stderr, "allocation %u of %u workers: status %x, %s\n", r.fail_at, r.workers,
                (unsigned)end.status, end.text);
    return WIFEXITED(end.status) ? WEXITSTATUS(end.status) : WRONG;
}

static void memory_runs_out(void **state)
{
    (void)state;
    for (unsigned n = 1; n <= 2; n++) {
        int end = RIGHT;
        unsigned at = 1;
        for (; end == RIGHT && at < 200; at++)
            end = result_of((round_){at, n});
        CHECK_INT(end, NOT_REACHED);
        CHECK(at > 10); /* the runtime, the slabs of records, a task stack */
    }
}

CHECK_MAIN(memory_runs_out)
