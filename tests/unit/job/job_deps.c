/* Jobs run once, after their dependencies.  Cycles are detected and named. */
#include "child.h"
#include "unit/job/jobs.h"

static filch_job *stamp_job(int *when)
{
    filch_job *j = filch_job_new(stamp, when);

    *when = 0;
    CHECK(j != NULL);
    return j;
}

static void chain(void)
{
    enum { LENGTH = 100 };
    filch_group g = FILCH_GROUP_INIT;
    int when[LENGTH];
    filch_job *last = NULL;

    for (int i = 0; i < LENGTH; i++) {
        filch_job *j = stamp_job(&when[i]);
        CHECK_INT(filch_job_set_group(j, &g), 0);
        if (last)
            CHECK_INT(filch_job_after(j, last), 0);
        if (last)
            CHECK_INT(filch_job_submit(last), 0);
        last = j;
    }
    CHECK_INT(filch_job_submit(last), 0);
    CHECK_INT(filch_group_wait(&g), 0);
    for (int i = 1; i < LENGTH; i++)
        CHECK(when[i - 1] < when[i]);
}

/* One job, thousands of successors, and one successor of all of these. */
static void diamond(void)
{
    enum { MAX_WIDTH = 5000 };
    static int when[MAX_WIDTH];
    static filch_job *middle[MAX_WIDTH];
    int first_when, last_when, width = SCALED(MAX_WIDTH);
    filch_group g = FILCH_GROUP_INIT;
    filch_job *first = stamp_job(&first_when), *last = stamp_job(&last_when);

    CHECK_INT(filch_job_after(last, first), 0);
    CHECK_INT(filch_job_submit(last), 0);
    for (int i = 0; i < width; i++) {
        middle[i] = stamp_job(&when[i]);
        CHECK_INT(filch_job_set_group(middle[i], &g), 0);
        CHECK_INT(filch_job_after(middle[i], first), 0);
        CHECK_INT(filch_job_after(last, middle[i]), 0); /* last was submitted before */
        CHECK_INT(filch_job_submit(middle[i]), 0);
    }
    CHECK_INT(filch_job_submit(first), 0);
    filch_job_release(first);
    CHECK_INT(filch_job_wait(last), 0);
    CHECK_INT(filch_group_wait(&g), 0);
    for (int i = 0; i < width; i++)
        CHECK(first_when < when[i] && when[i] < last_when);
}

static void after_a_done_job(void)
{
    int a_when, b_when;
    filch_job *a = stamp_job(&a_when), *b = stamp_job(&b_when);

    CHECK_INT(filch_job_submit(a), 0);
    while (!filch_job_is_done(a))
        continue;
    CHECK_INT(filch_job_after(b, a), 0);
    CHECK_INT(b_when, 0);
    CHECK_INT(filch_job_submit(b), 0);
    CHECK_INT(filch_job_wait(b), 0);
    CHECK_INT(filch_job_wait(a), 0);
    CHECK(a_when < b_when);
}

static void too_late(void)
{
    int when;
    filch_job *a = filch_job_new(nothing, NULL), *b = stamp_job(&when);

    CHECK_INT(filch_job_submit(b), 0);
    CHECK_INT(filch_job_submit(b), -EBUSY);
    while (!filch_job_is_done(b))
        continue;
    CHECK_INT(filch_job_after(b, a), -EBUSY);
    CHECK_INT(filch_job_submit(a), 0);
    CHECK_INT(filch_job_wait(a), 0);
    CHECK_INT(filch_job_wait(b), 0);
}

static void continuations(void)
{
    int when[4];
    filch_job *j[4];

    for (int i = 0; i < 4; i++)
        j[i] = stamp_job(&when[i]);
    for (int i = 1; i < 4; i++)
        CHECK_INT(filch_job_then(j[i - 1], j[i]), 0);
    CHECK_INT(filch_job_submit(j[0]), 0);
    for (int i = 4; i-- > 0;)
        CHECK_INT(filch_job_wait(j[i]), 0);
    for (int i = 1; i < 4; i++)
        CHECK(when[i - 1] < when[i]);
}

/* ---- parents ---- */

typedef struct family {
    int depth;
    atomic_int *members;
} family;

static void multiply(void *arg)
{
    family *f = arg, child = {f->depth - 1, f->members};

    atomic_fetch_add(f->members, 1);
    for (int i = 0; i < 2 && f->depth > 0; i++) {
        filch_job *j = filch_job_new_copy(multiply, &child, sizeof child);
        CHECK_INT(filch_job_set_parent(j, filch_job_self()), 0);
        CHECK_INT(filch_job_set_parent(j, filch_job_self()), -EBUSY);
        CHECK_INT(filch_job_submit(j), 0);
    }
}

static void parents(void)
{
    atomic_int members = 0;
    family root = {FI_UNDER_TSAN ? 8 : 12, &members};
    filch_job *j = filch_job_new_copy(multiply, &root, sizeof root);

    CHECK(filch_job_self() == NULL);
    CHECK_INT(filch_job_submit(j), 0);
    CHECK_INT(filch_job_wait(j), 0);
    CHECK_INT(atomic_load(&members), (2 << root.depth) - 1);
}

static void add_child(void *last)
{
    int *generations = last;
    filch_job *j;

    if (--*generations == 0)
        return;
    j = filch_job_new(add_child, generations);
    filch_job_set_parent(j, filch_job_self());
    filch_job_submit(j);
}

/* The end of the last child ends all its ancestors. */
static void many_ancestors(void)
{
    int generations = SCALED(100000);
    filch_job *j = filch_job_new(add_child, &generations);

    filch_job_submit(j);
    CHECK_INT(filch_job_wait(j), 0);
    CHECK_INT(generations, 0);
}

static void add_one(void *sum)
{
    atomic_fetch_add((atomic_int *)sum, 1);
}

static void cheap_children(void *sum)
{
    for (int i = 0; i < 1000; i++)
        filch_group_run(filch_job_child_group(filch_job_self()), add_one, sum);
}

static void children_by_group(void)
{
    atomic_int sum = 0;
    int after_when;
    filch_job *j = filch_job_new(cheap_children, &sum), *after = stamp_job(&after_when);

    filch_job_then(j, after);
    filch_job_submit(j);
    CHECK_INT(filch_job_wait(after), 0);
    CHECK_INT(atomic_load(&sum), 1000);
    CHECK_INT(filch_job_wait(j), 0);
}

static void no_child_for_a_done_parent(void)
{
    filch_job *parent = filch_job_new(nothing, NULL), *child = filch_job_new(nothing, NULL);

    filch_job_submit(parent);
    while (!filch_job_is_done(parent))
        continue;
    CHECK_INT(filch_job_set_parent(child, parent), -EBUSY);
    filch_job_submit(child);
    filch_job_wait(child);
    filch_job_wait(parent);
}

static void jobs_in_groups(void)
{
    filch_group g = FILCH_GROUP_INIT;
    atomic_int sum = 0;

    for (int i = 0; i < 100; i++) {
        filch_job *j = filch_job_new(add_one, &sum);
        CHECK_INT(filch_job_set_group(j, &g), 0);
        CHECK_INT(filch_job_submit(j), 0);
    }
    CHECK_INT(filch_group_wait(&g), 0);
    CHECK_INT(atomic_load(&sum), 100);
}

/* Members whose count is deferred are counted in their own group, not in the next one. */
static void deferred_counts(void)
{
    atomic_int sum = 0;

    for (int i = 0; i < 200; i++) {
        filch_job *parent = filch_job_new(nothing, NULL);
        filch_group g = FILCH_GROUP_INIT;
        for (int k = 0; k < 20; k++) {
            filch_job *j = filch_job_new(add_one, &sum);
            filch_job_set_parent(j, parent);
            filch_job_submit(j);
            filch_group_run(&g, add_one, &sum);
        }
        filch_job_submit(parent);
        filch_job_wait(parent);
        filch_group_wait(&g);
    }
    CHECK_INT(atomic_load(&sum), 200 * 40);
}

/* ---- payload, priority ---- */

typedef struct payload {
    char bytes[FILCH_JOB_PAYLOAD_MAX];
} payload;

static payload seen;

static void read_payload(void *copy)
{
    CHECK_INT((uintptr_t)copy % 16, 0);
    memcpy(&seen, copy, sizeof seen);
}

static void payloads(void)
{
    payload p;
    filch_job *j;

    memset(&p, 'x', sizeof p);
    CHECK(filch_job_new_copy(read_payload, &p, sizeof p + 1) == NULL);
    j = filch_job_new_copy(read_payload, &p, sizeof p);
    memset(&p, 0, sizeof p);
    filch_job_submit(j);
    filch_job_wait(j);
    memset(&p, 'x', sizeof p);
    CHECK(memcmp(&p, &seen, sizeof p) == 0);
}

static int low_when[50], normal_when[50], high_when[50];

/* With one worker, no job runs before this returns. */
static void submit_three_kinds(void *arg)
{
    static const filch_priority kinds[] = {FILCH_PRIORITY_LOW, FILCH_PRIORITY_NORMAL,
                                           FILCH_PRIORITY_HIGH};
    int *whens[] = {low_when, normal_when, high_when};

    (void)arg;
    for (int i = 0; i < 50; i++)
        for (int k = 0; k < 3; k++) {
            filch_job *j = stamp_job(&whens[k][i]);
            filch_job_set_priority(j, kinds[k]);
            filch_job_set_parent(j, filch_job_self());
            filch_job_submit(j);
        }
}

static int mean(const int *when)
{
    int sum = 0;

    for (int i = 0; i < 50; i++)
        sum += when[i];
    return sum / 50;
}

/* Every 61st choice ignores priorities, so some jobs of low priority run early. */
static void priorities(void **state)
{
    filch_config one = {.workers = 1};
    filch_job *j;

    (void)state;
    if (chaos_enabled())
        return;
    atomic_store(&ticks, 0);
    CHECK_INT(filch_start(&one), 0);
    j = filch_job_new(submit_three_kinds, NULL);
    filch_job_submit(j);
    CHECK_INT(filch_job_wait(j), 0);
    CHECK_INT(filch_stop(), 0);
    for (int i = 0; i < 50; i++)
        CHECK(high_when[i] <= 50);
    CHECK(mean(high_when) < mean(normal_when) && mean(normal_when) < mean(low_when));
}

FILCH_VOID_TASK(high_priority_beside_many, int *, when, int *, others)
{
    filch_group g = FILCH_GROUP_INIT;
    filch_job *j = filch_job_new(stamp, when);

    filch_job_set_priority(j, FILCH_PRIORITY_HIGH);
    for (int i = 0; i < 100; i++)
        filch_group_run(&g, stamp, &others[i]);
    filch_job_submit(j);
    filch_group_wait(&g);
    filch_job_wait(j);
}

/* A high-priority job runs first, on a worker thread and on a calling thread that borrows the
 * worker.  Every 61st choice ignores priorities, so one other job may run before it. */
static void high_priority_first(void **state)
{
    filch_config one = {.workers = 1};
    int when, others[100];

    (void)state;
    if (chaos_enabled())
        return;
    CHECK_INT(filch_start(&one), 0);
    for (int i = 0; i < 20; i++) {
        atomic_store(&ticks, 0);
        FILCH_RUN(high_priority_beside_many, &when, others);
        CHECK(when <= 2);
    }
    CHECK_INT(filch_stop(), 0);
}

/* ---- cycles ---- */

static void cycle_of_three(void *arg)
{
    filch_job *load = filch_job_new(nothing, NULL), *parse = filch_job_new(nothing, NULL),
              *draw = filch_job_new(nothing, NULL);

    (void)arg;
    filch_job_set_name(load, "load");
    filch_job_set_name(parse, "parse");
    filch_job_set_name(draw, "draw");
    if (filch_job_after(parse, load) != 0 || filch_job_after(draw, parse) != 0)
        _exit(1);
    if (filch_job_after(load, draw) != -ELOOP || filch_job_after(load, parse) != -ELOOP ||
        filch_job_after(load, load) != -ELOOP)
        _exit(2);
    filch_job_submit(load), filch_job_submit(parse), filch_job_submit(draw);
    _exit(filch_job_wait(draw) == 0 ? 0 : 3); /* the refused edges are not in place */
}

static void cycle_of_parents(void *arg)
{
    filch_job *parent = filch_job_new(nothing, NULL), *child = filch_job_new(nothing, NULL),
              *other = filch_job_new(nothing, NULL);

    (void)arg;
    filch_job_set_name(parent, "parent");
    filch_job_set_name(child, "child");
    if (filch_job_set_parent(child, parent) != 0 || filch_job_after(child, parent) != -ELOOP)
        _exit(1);
    if (filch_job_after(other, parent) != 0 || filch_job_set_parent(other, parent) != -ELOOP)
        _exit(2);
    filch_job_submit(child), filch_job_submit(parent), filch_job_submit(other);
    _exit(filch_job_wait(other) == 0 ? 0 : 3);
}

static void cycles_are_named(void **state)
{
    struct child_end end;

    (void)state;
    child_end_of(&end, cycle_of_three, NULL);
    CHECK(WIFEXITED(end.status));
    CHECK_INT(WEXITSTATUS(end.status), 0);
    CHECK(strstr(end.text, ": draw -> parse -> load -> draw\n") != NULL);
    CHECK(strstr(end.text, ": parse -> load -> parse\n") != NULL);
    CHECK(strstr(end.text, ": load -> load\n") != NULL);
    child_end_of(&end, cycle_of_parents, NULL);
    CHECK_INT(WEXITSTATUS(end.status), 0);
    CHECK(strstr(end.text, ": parent -> child -> parent\n") != NULL);
}

WITH_WORKERS(chain)
WITH_WORKERS(diamond)
WITH_WORKERS(after_a_done_job)
WITH_WORKERS(too_late)
WITH_WORKERS(continuations)
WITH_WORKERS(parents)
WITH_WORKERS(many_ancestors)
WITH_WORKERS(children_by_group)
WITH_WORKERS(no_child_for_a_done_parent)
WITH_WORKERS(jobs_in_groups)
WITH_WORKERS(deferred_counts)
WITH_WORKERS(payloads)

CHECK_MAIN(test_chain, test_diamond, test_after_a_done_job, test_too_late, test_continuations,
           test_parents, test_many_ancestors, test_children_by_group,
           test_no_child_for_a_done_parent, test_jobs_in_groups, test_deferred_counts,
           test_payloads, priorities, cycles_are_named, high_priority_first)
