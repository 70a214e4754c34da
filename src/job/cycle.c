/* Circles of jobs that wait for each other: found when the last link is made, and named.
 *
 * From the job that is to wait we walk to all that wait for it in turn: those that come after it, and its parent, which is
 * not done before it.  Meeting the job that it is to wait for, we have the circle.
 *
 * Links are made under the lock, so of two threads that would close a circle together one sees the other's link.
 *
 * All that we meet is unfinished, as what we begin with is: so no record goes away.  Mostly there is nothing to walk:
 * either nobody waits for the one job yet, or the other waits for nothing. */
#include "base/at_fork.h"
#include "job/job.h"

#include <stdio.h>

static fi_lock cycle_lock;
static uint32_t visits;

/* Relaxed: links are added under the lock. */
static fi_dep *first_successor(fi_job *j)
{
    fi_dep *first = fi_load_relaxed(&j->successors.first);

    return first == FI_SUCCESSORS_CLOSED ? NULL : first;
}

static bool has_successors(fi_job *j)
{
    return fi_job_parent_of(j) || first_successor(j);
}

/* A list of what is to be visited, and how each was come by. */
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

static bool waits_for(fi_job *from, const fi_job *to)
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
        for (fi_dep *dep = first_successor(j); dep; dep = dep->next)
            visit_later(&end, dep->successor, j);
    }
    return false;
}

static void print_name(fi_job *j)
{
    if (j->name)
        fprintf(stderr, " %s", j->name);
    else
        fprintf(stderr, " %p", (const void *)fi_job_handle(j));
}

static void print_cycle(fi_job *last)
{
    flockfile(stderr);
    fputs("filch: a circle of jobs, each of which would wait for the next:", stderr);
    for (fi_job *j = last; j; j = j->visited_from) {
        print_name(j);
        fputs(" ->", stderr);
    }
    print_name(last);
    fputc('\n', stderr);
    funlockfile(stderr);
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

bool fi_cycle_possible(fi_job *dependency)
{
    return fi_load_relaxed(&dependency->has_dep) ||
           fi_load_relaxed(&dependency->self_group.pending) >= 2 * FI_PENDING_ONE;
}

bool fi_cycle_would_close(fi_job *job, fi_job *dependency)
{
    if (job != dependency && !(has_successors(job) && fi_cycle_possible(dependency)))
        return false;
    if (!waits_for(job, dependency))
        return false;
    print_cycle(dependency);
    return true;
}
