/* Detects cycles of jobs that wait for each other, when an edge closes one, and names them.
 *
 * A job waits for its dependencies and its children.  An edge can close a cycle only if its job
 * is waited for and its dependency waits.  Then a walk starts at the job and visits all jobs
 * that wait for it: its successors, its parent, and so on.  If it meets the dependency there is
 * a cycle.
 *
 * Two threads may close a cycle together.  Each puts its edge in place, passes a full fence, and
 * reads whether both ends have other edges:
 *
 *     thread 1                                thread 2
 *     1. add the edge a -> b                  1. add the edge b -> a
 *     2. fence (deps.fence)                   2. fence (deps.fence)
 *     3. is a waited for, and does b wait?    3. is b waited for, and does a wait?
 *
 * So the thread whose fence is last sees all other edges of the cycle, and walks.  Walks, and
 * the removal of an edge that has closed a cycle, are under one lock: of two threads that walk,
 * only the first finds the cycle.
 *
 * The job at which the walk starts cannot finish, so all jobs that it meets are unfinished: none
 * is freed, and no list is closed. */
#include "base/at_fork.h"
#include "base/message.h"
#include "job/job.h"

#include <stdio.h>

static fi_lock cycle_lock;
static uint32_t visits; /* the number of the present walk */

static bool is_waited_for(fi_job *j)
{
    return fi_job_parent_of(j) || fi_load_relaxed(&j->successors.first);
}

/* <-> deps.fence of another thread: else both overlook the other's edge, and the jobs wait for
 * ever. */
bool fi_cycle_possible(fi_job *job, fi_job *dependency)
{
    fi_fence_seq_cst(deps.fence);
    return is_waited_for(job) && fi_job_waits(dependency);
}

/* Append to the list of jobs to visit, unless it is or was in it. */
static void visit_later(fi_job ***end, fi_job *j, fi_job *from)
{
    if (j->visit == visits)
        return;
    j->visit = visits;
    j->visited_from = from;
    j->to_visit = NULL;
    **end = j;
    *end = &j->to_visit;
}

static bool is_reached(fi_job *from, const fi_job *to)
{
    fi_job *list = NULL, **end = &list;

    visits++;
    visit_later(&end, from, NULL);
    for (fi_job *j = list; j; j = j->to_visit) {
        fi_job *parent = fi_job_parent_of(j);
        if (j == to)
            return true;
        if (parent)
            visit_later(&end, parent, j);
        for (fi_dep *dep = fi_successors_first(&j->successors); dep; dep = dep->next)
            visit_later(&end, dep->successor, j);
    }
    return false;
}

/* The names of the jobs of a cycle.  A long list is cut in the middle of a name. */
typedef struct cycle_text {
    char bytes[768];
    size_t n;
} cycle_text;

static void append_name(cycle_text *t, fi_job *j, const char *after)
{
    size_t left = sizeof t->bytes - t->n;
    char *at = t->bytes + t->n;
    int n = j->name ? snprintf(at, left, " %s%s", j->name, after)
                    : snprintf(at, left, " %p%s", (const void *)fi_job_handle(j), after);

    t->n += (size_t)n < left ? (size_t)n : left - 1;
}

static void report_cycle(fi_job *last)
{
    cycle_text t = {.n = 0};

    for (fi_job *j = last; j; j = j->visited_from)
        append_name(&t, j, " ->");
    append_name(&t, last, "");
    fi_message(FILCH_LEVEL_ERROR, "cycle of jobs, of which each would wait for the next:%s",
               t.bytes);
}

bool fi_cycle_closed(fi_job *job, fi_job *dependency)
{
    if (!is_reached(job, dependency))
        return false;
    report_cycle(dependency);
    return true;
}

__attribute__((constructor)) static void register_at_fork(void)
{
    fi_at_fork(FI_FORK_CYCLES, &cycle_lock, NULL);
}

void fi_cycle_lock(void)
{
    fi_lock_lock(&cycle_lock);
}

void fi_cycle_unlock(void)
{
    fi_lock_unlock(&cycle_lock);
}
