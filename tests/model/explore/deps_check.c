/* A job runs once, after all its dependencies, and sees their work.  No thread reads an edge
 * that is half written or freed.  Of threads that close a cycle together, one is refused.
 *
 * job/deps.c and job/cycle.c are checked as they ship.  Running and finishing a job follows
 * job/job.c.
 *
 * All: A, B, J submit that job, a J depends on A, b J on B, w A on B (which then waits for another
 * job from the start), l B on J.  Each runs once, after its dependencies. */
#include "explore/kind.h"

#include "explore/machine.h"
#include "explore/mem.h"

static void counted_lock(struct fi_lock *l);
static void counted_unlock(struct fi_lock *l);

/* The report of a cycle is not printed. */
#include <stdio.h>
#define fprintf(...)        ((void)0)
#define fputs(text, stream) ((void)0)
#define fputc(c, stream)    ((void)0)
#define flockfile(stream)   ((void)0)
#define funlockfile(stream) ((void)0)
#define fi_lock_lock        counted_lock
#define fi_lock_unlock      counted_unlock
#include "job/cycle.c" /* NOLINT(bugprone-suspicious-include): to reset its counter */
#include "wait/cancel.h"
#undef fi_lock_lock
#undef fi_lock_unlock
#undef fprintf
#undef fputs
#undef fputc
#undef flockfile
#undef funlockfile

#include <errno.h>
#include <string.h>

enum { A, B, J, JOBS };
enum {
    WORK = 0,
    DEP = JOBS
}; /* plain data: one for each job, one for each letter that adds an edge */

/* The edge that a letter adds. */
typedef struct dep_letter {
    char letter;
    int job, dependency;
} dep_letter;

static const dep_letter letters[] = {{'a', J, A}, {'b', J, B}, {'w', A, B}, {'l', B, J}};
enum { LETTERS = 4 };

/* In the arena: edges and marks are part of the state. */
typedef struct jobs_state {
    fi_job job[JOBS];
    fi_dep more; /* the edge that needs a record of its own */
} jobs_state;

static jobs_state *at;
static bool more_taken;
static unsigned done;           /* a bit for each job */
static unsigned after[JOBS];    /* its dependencies, after fi_job_after has returned */
static int letter[MAX_THREADS]; /* the letter whose edge this thread adds now; LETTERS: none */

static bool has(char op)
{
    for (int i = 0; i < program_threads(); i++)
        if (strchr(program_ops(i), op))
            return true;
    return false;
}

/* Jobs as job.c makes them.  With letter w, B has a dependency from the start. */
static void make(int i)
{
    static const char *const counts[] = {"A.pending", "B.pending", "J.pending"};
    static const char *const blockers[] = {"A.blockers", "B.blockers", "J.blockers"};
    static const char *const refs[] = {"A.ref", "B.ref", "J.ref"};
    static const char *const successors[] = {"A.successors", "B.successors", "J.successors"};
    static const char *const links[] = {"A.has_dep", "B.has_dep", "J.has_dep"};
    static const char *const parents[] = {"A.parent", "B.parent", "J.parent"};
    fi_job *j = &at->job[i];
    x_init(&j->self_group.pending, FI_PENDING_ONE | FI_PENDING_OF_JOB, counts[i]);
    x_init(&j->self_group.scope.parent, 0, parents[i]);
    x_init(&j->n_blockers, FI_BLOCKERS_UNSUBMITTED, blockers[i]);
    x_init(&j->ref, FI_REF_GENERATION + FI_REF_ALL, refs[i]);
    x_init(&j->successors.first, 0, successors[i]);
    x_init(&j->has_dep, i == B && has('w'), links[i]);
    after[i] = 0;
}

static void setup(void)
{
    at = FI_NEW(jobs_state);
    visits = 0;
    more_taken = false;
    done = 0;
    for (int i = 0; i < JOBS; i++)
        make(i);
    x_init(&cycle_lock.word, 0, "cycle_lock");
    for (int i = 0; i < MAX_THREADS; i++)
        letter[i] = LETTERS;
}

static int number(const fi_job *j)
{
    return (int)(j - at->job);
}

/* ---- running and ending, as in job/job.c ---- */

static void see_dependencies(int job)
{
    int mine = letter[search_self()];
    unsigned must = after[job];
    if (mine < LETTERS && letters[mine].job == job && done & 1u << letters[mine].dependency)
        must |= 1u << letters[mine].dependency; /* its list was closed */
    for (int i = 0; i < JOBS; i++) {
        if (!(must & 1u << i))
            continue;
        if (!(done & 1u << i))
            x_fail(WRONG, "a job runs before a dependency is done");
        x_data_read(WORK + i);
    }
}

/* A job that is done may be freed, with its edges. */
static void free_deps_of(int job)
{
    for (int i = 0; i < LETTERS; i++)
        if (letters[i].job == job && after[job] & 1u << letters[i].dependency)
            x_data_write(DEP + i);
}

static void read_dep(const fi_dep *dep, const fi_job *dependency)
{
    for (int i = 0; i < LETTERS; i++)
        if (dep->successor == &at->job[letters[i].job] &&
            dependency == &at->job[letters[i].dependency])
            x_data_read(DEP + i);
}

static void unblock_successors(fi_job *j)
{
    fi_dep *dep = fi_successors_close(&j->successors);
    while (dep) {
        fi_dep *next = dep->next;
        fi_job *successor = dep->successor;
        if (!x_fault("edge_after_unblock"))
            read_dep(dep, j);
        fi_dep_free(dep);
        if (fi_blockers_remove(&successor->n_blockers))
            fi_job_queue(successor);
        if (x_fault("edge_after_unblock"))
            read_dep(dep, j);
        dep = next;
    }
}

/* Runs it at once: a queue would only add synchronisation. */
void fi_job_queue(fi_job *j)
{
    int i = number(j);
    x_say("runs %c", "ABJ"[i]);
    if (done & 1u << i)
        x_fail(TWICE, "a job runs twice");
    see_dependencies(i);
    x_data_write(WORK + i);
    done |= 1u << i;
    free_deps_of(i);
    unblock_successors(j);
}

/* No forks here. */
void fi_at_fork(fi_fork_part part, fi_lock *lock, void (*child)(void))
{
    (void)part;
    (void)lock;
    (void)child;
}

bool fi_runtime_has_objects = true;

/* Called by deps.c for a job that is done. */
int fi_job_result(fi_job *j)
{
    if (!(done & 1u << number(j)))
        x_fail(WRONG, "a job is treated as done before it is");
    x_data_read(WORK + number(j));
    return 0;
}

void *fi_job_record_alloc(fi_record_class class)
{
    (void)class;
    if (more_taken)
        x_fail(LIMIT, "too many edges");
    more_taken = true;
    return &at->more;
}

void fi_job_record_free(fi_record_class class, void *record)
{
    (void)class;
    if (!more_taken || record != &at->more)
        x_fail(WRONG, "an edge is freed that was not allocated");
    more_taken = false;
}

int fi_job_submit(fi_job *j)
{
    (void)j;
    x_fail(WRONG, "not called here");
}

void fi_job_check_running(const filch_job *job, const char *function)
{
    (void)job;
    x_fail(WRONG, "%s: not called here", function);
}

int fi_job_is_null(const char *function, const char *argument)
{
    x_fail(WRONG, "%s: %s is NULL", function, argument);
}

void fi_group_fail(fi_group *g, int error)
{
    (void)g;
    (void)error;
    x_fail(WRONG, "not called here");
}

void fi_cancel_attach(fi_cancel_scope *child)
{
    fi_group_fail((fi_group *)child, 0);
}

void fi_pending_done(fi_group *g, uint32_t n)
{
    fi_group_fail(g, (int)n);
}

/* ---- operations of the threads ---- */

static void submit(int job)
{
    x_say("submit %c", "ABJ"[job]);
    x_data_write(WORK + job); /* its user may write to it until now */
    if (fi_blockers_submit(&at->job[job].n_blockers) == FI_SUBMITTED_READY)
        fi_job_queue(&at->job[job]);
}

static uint32_t visits_before; /* the present walk */

static void counted_lock(fi_lock *l)
{
    x_lock(l);
    visits_before = visits;
}

/* A walk from A to J has read the edge between them. */
static void counted_unlock(fi_lock *l)
{
    if (visits != visits_before && letters[letter[search_self()]].job == A &&
        at->job[J].visit == visits)
        x_data_read(DEP);
    x_unlock(l);
}

static void make_dep(int which)
{
    const dep_letter *l = &letters[which];
    x_say("%c depends on %c", "ABJ"[l->job], "ABJ"[l->dependency]);
    if (!(done & 1u << l->job))
        x_data_write(DEP + which);
    letter[search_self()] = which;
    int e = fi_job_after(&at->job[l->job], &at->job[l->dependency]);
    letter[search_self()] = LETTERS;
    if (e == 0)
        after[l->job] |= 1u << l->dependency;
    x_say(e == 0 ? "added" : e == -EBUSY ? "the job is not blocked" : "refused: cycle");
}

static void operate(const operation *op)
{
    for (int i = 0; i < LETTERS; i++)
        if (letters[i].letter == op->letter)
            make_dep(i);
    for (int i = 0; i < JOBS; i++)
        if ("ABJ"[i] == op->letter)
            submit(i);
}

static void check_end(void)
{
    for (int i = 0; i < JOBS; i++)
        if (has("ABJ"[i]) && !(done & 1u << i))
            x_fail(LOST, "job %c never runs", "ABJ"[i]);
}

static uint64_t summary(void)
{
    uint64_t h = done << 1 | more_taken;
    for (int i = 0; i < JOBS; i++)
        h = h << JOBS | after[i];
    for (int i = 0; i < MAX_THREADS; i++)
        h = h << 3 | (unsigned)letter[i];
    return h;
}

static const char *value_name(uint64_t value)
{
    static const char *const links[] = {"A's dep", "B's dep", "J's dep"};
    for (int i = 0; i < JOBS; i++)
        if (value == X_BITS(&at->job[i].first_dep))
            return links[i];
    if (value == FI_BLOCKERS_UNSUBMITTED)
        return "unsubmitted";
    return value == X_BITS(&at->more) ? "J's 2nd" : NULL;
}

static const program programs[] = {
    {0, 0, "A", {"aJ"}},        {0, 0, "a", {"w"}},         {0, 0, "A", {"J", "a"}},
    {0, 0, "A", {"B", "abJ"}},  {0, 0, "A", {"aJ", "bB"}},  {0, 0, "aJ", {"wA", "B"}},
    {0, 0, "aJ", {"wAB"}},      {0, 0, "A", {"aJ", "wB"}},  {0, 0, "bJ", {"lB"}},
    {0, 0, "bJ", {"lB", "wA"}}, {0, 0, "aJ", {"wA", "lB"}}, {0, 0, NULL, {NULL}},
};

static const mutant mutants[] = {
    WEAKER("removes a blocker relaxed", "deps.unblock", ORDER_RELAXED, RACE, RACE, RACE),
    WEAKER("queues a job after a relaxed load", "deps.unblocked", ORDER_RELAXED, RACE, RACE, RACE),
    WEAKER("submits relaxed", "deps.submit", ORDER_RELAXED, RACE, RACE, RACE),
    WEAKER("queues a job that it submits after a relaxed load", "deps.ready", ORDER_RELAXED, RACE,
           RACE, RACE),
    WEAKER("adds an edge relaxed", "deps.add", ORDER_RELAXED, RACE, RACE, RACE),
    WEAKER("finds the list closed by a relaxed load", "deps.late", ORDER_RELAXED, RACE, RACE, RACE),
    WEAKER("closes the list relaxed", "deps.close", ORDER_RELAXED, RACE, RACE, RACE),
    WEAKER("searches for a cycle relaxed", "deps.search", ORDER_RELAXED, RACE, RACE, RACE),
    WEAKER("no fence between adding an edge and reading its ends", "deps.fence", ORDER_NONE, LOST,
           LOST, OK),
    WEAKER("reads the closed list relaxed", "deps.walk", ORDER_RELAXED, RACE, RACE, RACE),
    FAULT("reads an edge after its successor was unblocked", "edge_after_unblock", RACE, RACE,
          RACE),
    {.what = NULL},
};

const kind deps_kind = {
    .name = "deps",
    .owner = "ABJabwl",
    .thief = "ABJabwl",
    .programs = programs,
    .mutants = mutants,
    .threads = NUMBERED("thread"),
    .data = {"the work of a job", "the work of a job", "the work of a job", "an edge"},
    .races = true,
    .setup = setup,
    .operate = operate,
    .at_end = check_end,
    .summary = summary,
    .value_name = value_name,
};
