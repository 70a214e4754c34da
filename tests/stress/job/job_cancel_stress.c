/* Random trees of groups, jobs, fibers and tasks wait for random objects, and are cancelled at
 * random levels: by their owners, errors, deadlines, fibers and threads.  Some end their own
 * cancellation.  Each tree ends, and
 * - a wait returns -ECANCELED only in a function that a cancellation reaches, and then again;
 * - after filch_fiber_uncancel in a member of a group no wait returns -ECANCELED;
 * - of the work of a group, each piece has run or is counted as dropped;
 * - the result of a group or a job has a cause;
 * - other fibers, which run on the same stacks, are not interrupted.
 * FILCH_SEED=... repeats the random choices of a run, but not its interleaving. */
#include "unit/task/helpers.h"

#include "base/rng.h"
#include "seed.h"
#include "stress/must.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

enum { TARGETS = 32, DEPTH = 4, BUDGET = 150, CALM = 4 };

/* ---- scopes: what a cancellation reaches ---- */

/* A flag is set before the call that it describes, so it may be true early, but never late. */
typedef struct scope {
    struct scope *owner;      /* its cancellation is passed on to this scope; NULL: none */
    struct scope *error_goes; /* the scope that an error of this one cancels; NULL: none */
    bool is_group;            /* neither a job nor below one: it is cancelled once */
    atomic_bool cancelled;    /* or is about to be */
    atomic_bool failed;       /* its work has returned an error */
    atomic_bool has_deadline;
    atomic_bool has_cancelled_job; /* which counts as dropped, but does not cancel the group */
    atomic_int n_ran;
} scope;

typedef struct node {
    struct node *next; /* in the list of all nodes */
    scope *in;
    scope own; /* of the job or fiber that the node is; in = &own then */
    fi_rng rng;
    int depth;
    bool is_uncancelled;
} node;

static _Atomic(node *) all_nodes;
static atomic_int budget;
static filch_wait_group detached; /* fibers whose end is not waited for otherwise */

static bool may_be_cancelled(scope *s)
{
    for (; s; s = s->owner)
        if (atomic_load(&s->cancelled))
            return true;
    return false;
}

/* The error of a job also cancels its parent or group. */
static void scope_fails(scope *s)
{
    for (; s; s = s->error_goes) {
        atomic_store(&s->failed, true);
        atomic_store(&s->cancelled, true);
    }
}

static bool one_in(node *n, unsigned chance)
{
    return fi_rng_below(&n->rng, chance) == 0;
}

/* in: NULL: the node gets a scope of its own. */
static node *node_new(node *creator, scope *in)
{
    node *n = calloc(1, sizeof *n);

    if (!n)
        abort();
    fi_rng_seed(&n->rng, fi_rng_next(&creator->rng));
    n->depth = creator->depth + 1;
    n->in = in ? in : &n->own;
    n->next = atomic_load(&all_nodes);
    while (!atomic_compare_exchange_weak(&all_nodes, &n->next, n))
        continue;
    return n;
}

/* ---- targets that other fibers and threads cancel ---- */

typedef struct target {
    filch_mutex lock; /* held while the target is cancelled, so that it stays valid */
    scope *scope;     /* NULL: the target is free */
    filch_group *group;
    filch_job *job;
    filch_fiber *fiber;
} target;

static target targets[TARGETS];

/* NULL: the target is in use. */
static target *target_set(node *n, target t)
{
    target *to = &targets[fi_rng_below(&n->rng, TARGETS)];
    bool is_free;

    filch_mutex_lock(&to->lock);
    is_free = !to->scope;
    if (is_free) {
        to->scope = t.scope;
        to->group = t.group;
        to->job = t.job;
        to->fiber = t.fiber;
    }
    filch_mutex_unlock(&to->lock);
    return is_free ? to : NULL;
}

static void target_clear(target *t)
{
    if (!t)
        return;
    filch_mutex_lock(&t->lock);
    t->scope = NULL;
    filch_mutex_unlock(&t->lock);
}

static void target_cancel(target *t)
{
    filch_mutex_lock(&t->lock);
    if (t->scope) {
        atomic_store(&t->scope->cancelled, true);
        if (t->group)
            filch_group_cancel(t->group);
        if (t->job)
            filch_job_cancel(t->job);
        if (t->fiber)
            filch_fiber_cancel(t->fiber);
    }
    filch_mutex_unlock(&t->lock);
}

/* ---- waits ---- */

static filch_chan *never_sent;
static filch_sem never_posted;
static filch_event never_set;
static filch_wait_group never_done;
static filch_mutex mutex;
static filch_cond never_signalled;

static int wait_cond(int64_t deadline)
{
    int e;

    filch_mutex_lock(&mutex);
    e = filch_cond_wait_until(&never_signalled, &mutex, deadline);
    filch_mutex_unlock(&mutex);
    return e;
}

/* Wait for something that does not happen.  Returns -ETIMEDOUT or -ECANCELED. */
static int wait_until(fi_rng *rng, int64_t deadline)
{
    int item, e;

    switch (fi_rng_below(rng, 6)) {
    case 0:
        return filch_chan_recv_until(never_sent, &item, deadline);
    case 1:
        return filch_sem_wait_until(&never_posted, deadline);
    case 2:
        return filch_event_wait_until(&never_set, deadline);
    case 3:
        return filch_wait_group_wait_until(&never_done, deadline);
    case 4:
        return wait_cond(deadline);
    default:
        e = filch_sleep_until(deadline);
        return e == 0 ? -ETIMEDOUT : e;
    }
}

static int64_t soon(fi_rng *rng)
{
    return filch_now() + FILCH_US(fi_rng_below(rng, 100));
}

/* The work of a cancelled function is interrupted again, unless it ends the cancellation. */
static void after_interruption(node *n)
{
    MUST(may_be_cancelled(n->in));
    MUST(!n->is_uncancelled || !n->in->is_group);
    MUST(filch_fiber_is_cancelled());
    MUST(wait_until(&n->rng, filch_now() + FILCH_S(100)) == -ECANCELED);
    if (one_in(n, 2))
        return;
    n->is_uncancelled = true;
    MUST(filch_fiber_uncancel());
}

static bool wait_short(node *n)
{
    int e = wait_until(&n->rng, soon(&n->rng));

    MUST(e == -ETIMEDOUT || e == -ECANCELED);
    if (e == -ECANCELED)
        after_interruption(n);
    return e == -ECANCELED;
}

/* A wait that only a cancellation ends.  The root is cancelled in the end, and so are all functions
 * that have not ended their cancellation. */
static bool wait_long(node *n)
{
    if (n->is_uncancelled)
        return wait_short(n);
    MUST(wait_until(&n->rng, filch_now() + FILCH_S(100)) == -ECANCELED);
    after_interruption(n);
    return true;
}

/* ---- tasks ---- */

/* Returns the number of interrupted waits. */
FILCH_TASK(int, wait_in_tasks, uint64_t, seed, int, depth)
{
    fi_rng rng;
    int n = 0;

    fi_rng_seed(&rng, seed);
    if (depth > 0) {
        uint64_t other = fi_rng_next(&rng);
        FILCH_SPAWN(wait_in_tasks, other, depth - 1);
        n += FILCH_CALL(wait_in_tasks, seed + 1, depth - 1);
        n += FILCH_SYNC(wait_in_tasks);
    }
    return n + (wait_until(&rng, soon(&rng)) == -ECANCELED);
}

static void run_tasks(node *n)
{
    int interrupted = FILCH_RUN(wait_in_tasks, fi_rng_next(&n->rng), 3);

    MUST(interrupted == 0 || may_be_cancelled(n->in));
    MUST(interrupted == 0 || !n->is_uncancelled || !n->in->is_group);
}

/* ---- groups ---- */

static int node_run(node *n);
static int run_member(void *arg);

static void add_job(node *n, filch_group *g, scope *s);

/* Returns the number of members. */
static int add_members(node *n, filch_group *g, scope *s)
{
    int n_members = 1 + (int)fi_rng_below(&n->rng, 4), submitted = 0;

    for (int i = 0; i < n_members; i++) {
        if (atomic_fetch_sub(&budget, 1) <= 0)
            break;
        submitted++;
        if (one_in(n, 4))
            add_job(n, g, s);
        else
            MUST(filch_group_run_fallible(g, run_member, node_new(n, s)) == 0);
    }
    return submitted;
}

static void cancel_own_group(node *n, filch_group *g, scope *s, bool *is_cancelled)
{
    if (one_in(n, 8)) {
        atomic_store(&s->cancelled, true);
        atomic_store(&s->has_deadline, true);
        MUST(filch_group_set_deadline(g, soon(&n->rng)) == 0);
    }
    if (one_in(n, 8)) {
        atomic_store(&s->cancelled, true);
        filch_group_cancel(g);
        *is_cancelled = true;
    }
}

static void check_group(const filch_group *g, scope *s, int e, int submitted, bool is_cancelled)
{
    int dropped = (int)filch_group_dropped(g);

    MUST(atomic_load(&s->n_ran) + dropped == submitted);
    MUST(dropped == 0 || may_be_cancelled(s) || atomic_load(&s->has_cancelled_job));
    MUST(e == 0 || e == -EPROTO || e == -ECANCELED || e == -ETIMEDOUT);
    MUST((e == -EPROTO) == atomic_load(&s->failed));
    MUST(e != -ECANCELED || may_be_cancelled(s));
    MUST(e != -ETIMEDOUT || atomic_load(&s->has_deadline));
    MUST(e != 0 || (!is_cancelled && (dropped == 0 || atomic_load(&s->has_cancelled_job))));
}

/* After -ETIMEDOUT the group has ended by its own deadline, or has not ended. */
static int wait_for_group(node *n, filch_group *g, scope *s)
{
    int e = one_in(n, 4) ? filch_group_wait_until(g, soon(&n->rng)) : filch_group_wait(g), again;

    if (e != -ETIMEDOUT)
        return e;
    again = filch_group_wait(g);
    return again == 0 && atomic_load(&s->has_deadline) ? e : again;
}

static void run_group(node *n)
{
    scope s = {.owner = n->in, .is_group = true};
    filch_group g = FILCH_GROUP_INIT;
    target *t = target_set(n, (target){.scope = &s, .group = &g});
    bool is_cancelled = false;
    int submitted = add_members(n, &g, &s), e;

    cancel_own_group(n, &g, &s, &is_cancelled);
    e = wait_for_group(n, &g, &s);
    target_clear(t); /* it may cancel the group once more, after its end */
    check_group(&g, &s, e, submitted, is_cancelled);
}

/* ---- jobs ---- */

static int run_job(void *arg)
{
    node *n = arg;

    atomic_fetch_add(&n->own.n_ran, 1);
    if (n->own.error_goes)
        atomic_fetch_add(&n->own.error_goes->n_ran, 1);
    return node_run(n);
}

static filch_job *job_new(node *n, scope *owner, node **result)
{
    node *j = node_new(n, NULL);
    filch_job *job = filch_job_new_fallible(run_job, j);

    j->own.owner = owner;
    *result = j;
    if (!job)
        abort();
    return job;
}

/* A job of a group, or a child of the calling job. */
static void submit_owned(node *n, node *j, filch_job *job, scope *s)
{
    j->own.error_goes = s;
    if (one_in(n, 8)) {
        atomic_store(&j->own.cancelled, true);
        atomic_store(&s->has_cancelled_job, true);
        filch_job_cancel(job);
    }
    MUST(filch_job_submit(job) == 0);
}

static void add_job(node *n, filch_group *g, scope *s)
{
    node *j;
    filch_job *job = job_new(n, s, &j);

    MUST(filch_job_set_group(job, g) == 0);
    submit_owned(n, j, job, s);
}

static void add_children(node *n)
{
    filch_job *self = filch_job_self();

    if (!self || n->is_uncancelled || atomic_fetch_sub(&budget, 2) <= 1)
        return;
    if (one_in(n, 2)) {
        node *j;
        filch_job *job = job_new(n, n->in, &j);
        MUST(filch_job_set_parent(job, self) == 0);
        submit_owned(n, j, job, n->in);
    } else {
        MUST(filch_group_run_fallible(filch_job_child_group(self), run_member,
                                      node_new(n, n->in)) == 0);
    }
}

static void run_own_job(node *n)
{
    node *j;
    filch_job *job = job_new(n, n->in, &j);
    target *t = target_set(n, (target){.scope = &j->own, .job = job});
    int e;

    MUST(filch_job_submit(job) == 0);
    if (one_in(n, 4)) {
        atomic_store(&j->own.cancelled, true);
        filch_job_cancel(job);
    }
    target_clear(t); /* the wait releases the job */
    e = filch_job_wait(job);
    MUST(e == 0 || e == -EPROTO || e == -ECANCELED);
    MUST((e == -EPROTO) == atomic_load(&j->own.failed));
    MUST(e != -ECANCELED || may_be_cancelled(&j->own));
    MUST(e != 0 || atomic_load(&j->own.n_ran) > 0);
}

/* ---- fibers, which are not cancelled with the function that starts them ---- */

static void *run_fiber(void *arg)
{
    (void)node_run(arg);
    return arg;
}

/* A cancelled join leaves the handle valid. */
static void join(node *n, filch_fiber *f, const node *expected)
{
    void *result = NULL;
    int e = filch_fiber_join(f, &result);

    if (e == -ECANCELED) {
        MUST(may_be_cancelled(n->in));
        n->is_uncancelled = true;
        MUST(filch_fiber_uncancel());
        while ((e = filch_fiber_join(f, &result)) == -ECANCELED && !n->in->is_group)
            filch_fiber_uncancel(); /* a parent of the job was cancelled as well */
    }
    MUST(e == 0 && result == expected);
}

static void run_own_fiber(node *n)
{
    node *other = node_new(n, NULL);
    filch_fiber *f = filch_fiber_start(run_fiber, other);
    target *t;

    if (!f)
        abort();
    t = target_set(n, (target){.scope = &other->own, .fiber = f});
    if (!n->is_uncancelled && one_in(n, 2))
        wait_short(n);
    target_clear(t);
    atomic_store(&other->own.cancelled, true);
    filch_fiber_cancel(f); /* it may wait for this */
    join(n, f, other);
}

static void wait_calmly(void *arg)
{
    fi_rng rng;

    fi_rng_seed(&rng, (uint64_t)(uintptr_t)arg);
    MUST(!filch_fiber_is_cancelled());
    for (int i = 0; i < 3; i++)
        MUST(wait_until(&rng, soon(&rng)) == -ETIMEDOUT);
    MUST(!filch_fiber_uncancel());
    filch_wait_group_done(&detached);
}

static void go_calm(node *n)
{
    filch_wait_group_add(&detached, 1);
    if (filch_go(wait_calmly, (void *)(uintptr_t)fi_rng_next(&n->rng)) < 0)
        abort();
}

/* ---- nodes ---- */

static void node_act(node *n)
{
    unsigned action = fi_rng_below(&n->rng, 8);

    if (n->is_uncancelled)
        action %= 3; /* nothing ends long waits of its members */
    else if (n->depth >= DEPTH || atomic_load(&budget) <= 0)
        action %= 4;
    switch (action) {
    case 0:
        wait_short(n);
        break;
    case 1:
        run_tasks(n);
        break;
    case 2:
        go_calm(n);
        break;
    case 3:
        wait_long(n);
        break;
    case 4:
        run_own_job(n);
        break;
    case 5:
        run_own_fiber(n);
        break;
    default:
        run_group(n);
    }
}

/* The result of the work.  -ECANCELED is an error unless the function is cancelled. */
static int node_run(node *n)
{
    int n_actions = 1 + (int)fi_rng_below(&n->rng, 3);

    for (int i = 0; i < n_actions; i++) {
        node_act(n);
        if (one_in(n, 4))
            add_children(n);
    }
    if (one_in(n, 32)) {
        scope_fails(n->in);
        return -EPROTO;
    }
    return one_in(n, 2) && filch_fiber_is_cancelled() ? -ECANCELED : 0;
}

static int run_member(void *arg)
{
    node *n = arg;

    atomic_fetch_add(&n->in->n_ran, 1);
    return node_run(n);
}

/* ---- rounds ---- */

typedef struct canceller {
    fi_rng rng;
    pthread_t thread;
} canceller;

static atomic_bool round_is_over;

static void *cancel_targets(void *arg)
{
    canceller *c = arg;

    while (!atomic_load(&round_is_over)) {
        target_cancel(&targets[fi_rng_below(&c->rng, TARGETS)]);
        filch_sleep(FILCH_US(fi_rng_below(&c->rng, 50)));
    }
    return NULL;
}

static void calm_member(void *arg)
{
    for (int i = 0; i < 5; i++) {
        filch_wait_group_add(&detached, 1);
        wait_calmly((char *)arg + i);
    }
}

/* As a thread, or as a fiber. */
static void *run_tree(void *arg)
{
    node *root = arg;
    scope s = {.is_group = true};
    filch_group g = FILCH_GROUP_INIT;
    target *t = target_set(root, (target){.scope = &s, .group = &g});
    int submitted = add_members(root, &g, &s), e;

    filch_sleep(FILCH_US(fi_rng_below(&root->rng, 600)));
    atomic_store(&s.cancelled, true);
    filch_group_cancel(&g);
    e = filch_group_wait(&g);
    target_clear(t);
    check_group(&g, &s, e, submitted, true);
    return NULL;
}

static void free_nodes(void)
{
    node *n = atomic_exchange(&all_nodes, NULL);

    while (n) {
        node *next = n->next;
        free(n);
        n = next;
    }
}

static void run_round(fi_rng *rng)
{
    node root = {.depth = 0};
    canceller c[3];
    filch_group calm = FILCH_GROUP_INIT;
    filch_fiber *fiber;

    fi_rng_seed(&root.rng, fi_rng_next(rng));
    atomic_store(&budget, BUDGET);
    atomic_store(&round_is_over, false);
    for (int i = 0; i < 3; i++)
        fi_rng_seed(&c[i].rng, fi_rng_next(rng));
    for (int i = 0; i < 2; i++)
        CHECK_INT(pthread_create(&c[i].thread, NULL, cancel_targets, &c[i]), 0);
    fiber = filch_fiber_start(cancel_targets, &c[2]);
    for (int i = 0; i < CALM; i++)
        filch_group_run(&calm, calm_member, (void *)(uintptr_t)fi_rng_next(rng));
    if (fi_rng_below(rng, 2) == 0)
        run_tree(&root);
    else
        CHECK_INT(filch_fiber_join(filch_fiber_start(run_tree, &root), NULL), 0);
    CHECK_INT(filch_group_wait(&calm), 0);
    filch_wait_group_wait(&detached);
    atomic_store(&round_is_over, true);
    for (int i = 0; i < 2; i++)
        pthread_join(c[i].thread, NULL);
    CHECK_INT(filch_fiber_join(fiber, NULL), 0);
    free_nodes();
    if (atomic_load(&failed_line) != 0)
        fprintf(stderr, "line %d: not true\n", atomic_load(&failed_line));
    CHECK_INT(atomic_load(&failed_line), 0);
}

static fi_rng rounds_rng;

static void rounds(void)
{
    never_sent = filch_chan_new(sizeof(int), 0);
    filch_wait_group_add(&never_done, 1);
    for (int i = 0; i < SCALED(100); i++)
        run_round(&rounds_rng);
    filch_wait_group_done(&never_done);
    filch_chan_free(never_sent);
}

static void trees_are_cancelled(void **state)
{
    (void)state;
    fi_rng_seed(&rounds_rng, seed_get());
    workers_each(NULL, rounds);
}

CHECK_MAIN(trees_are_cancelled)
