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

static fi_lock circles;
static uint32_t visits;

/* Relaxed: links are added under the lock. */
static fi_link *first_follower(fi_job *j)
{
    fi_link *first = fi_load_relaxed(&j->followers.first);

    return first == FI_LINKS_SHUT ? NULL : first;
}

static bool is_awaited(fi_job *j)
{
    return fi_job_parent_of(j) || first_follower(j);
}

/* A list of what is to be visited, and how each was come by. */
static void will_visit(fi_job ***end, fi_job *j, fi_job *from)
{
    if (j->visit == visits)
        return;
    j->visit = visits;
    j->visited_from = from;
    j->to_visit = NULL;
    **end = j;
    *end = &j->to_visit;
}

static bool reaches(fi_job *from, const fi_job *to)
{
    fi_job *list = NULL, **end = &list;

    visits++;
    will_visit(&end, from, NULL);
    for (fi_job *j = list; j; j = j->to_visit) {
        fi_job *parent = fi_job_parent_of(j);
        if (j == to)
            return true;
        if (parent)
            will_visit(&end, parent, j);
        for (fi_link *link = first_follower(j); link; link = link->next)
            will_visit(&end, link->job, j);
    }
    return false;
}

static void print_name(fi_job *j)
{
    if (j->name)
        fprintf(stderr, " %s", j->name);
    else
        fprintf(stderr, " %p", (const void *)fi_job_shown(j));
}

static void print_circle(fi_job *last)
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
    fi_at_fork(FI_FORK_CYCLES, &circles, NULL);
}

void fi_circle_lock(void)
{
    fi_lock_lock(&circles);
}

void fi_circle_unlock(void)
{
    fi_lock_unlock(&circles);
}

bool fi_circle_may_close(fi_job *before)
{
    return fi_load_relaxed(&before->has_link) ||
           fi_load_relaxed(&before->own.count) >= 2 * FI_COUNT_ONE;
}

bool fi_circle_would_close(fi_job *job, fi_job *before)
{
    if (job != before && !(is_awaited(job) && fi_circle_may_close(before)))
        return false;
    if (!reaches(job, before))
        return false;
    print_circle(before);
    return true;
}
