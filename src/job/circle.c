/* Circles of jobs that wait for each other: found when the last link is made, and named.
 *
 * From the job that is to wait we walk to all that wait for it in turn: those that come after it, and its parent, which is
 * not done before it.  Meeting the job that it is to wait for, we have the circle.
 *
 * All that we meet is unfinished, as what we begin with is: so no record goes away.  Mostly there is nothing to walk:
 * either nobody waits for the one job yet, or the other waits for nothing. */
#include "job/job.h"

#include <stdio.h>

static fi_lock circles;
static uint32_t visits;

static fi_job *parent_of(const fi_job *j)
{
    bool has = j->in && (fi_load_relaxed(&j->in->count) & FI_COUNT_OF_JOB);

    return has ? fi_job_of_group(j->in) : NULL;
}

/* <- links.add */
static fi_link *first_follower(fi_job *j)
{
    fi_link *first = fi_load_acquire(&j->followers.first, links.look);

    return first == FI_LINKS_SHUT ? NULL : first;
}

static bool is_awaited(fi_job *j)
{
    return parent_of(j) || first_follower(j);
}

static bool waits(fi_job *j)
{
    return fi_load_relaxed(&j->has_link) || fi_load_relaxed(&j->own.count) >= 2 * FI_COUNT_ONE;
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
        fi_job *parent = parent_of(j);
        if (j == to)
            return true;
        if (parent)
            will_visit(&end, parent, j);
        for (fi_link *link = first_follower(j); link; link = link->next)
            will_visit(&end, link->job, j);
    }
    return false;
}

static void print_name(const fi_job *j)
{
    if (j->name)
        fprintf(stderr, " %s", j->name);
    else
        fprintf(stderr, " %p", (const void *)j);
}

static void print_circle(const fi_job *last)
{
    flockfile(stderr);
    fputs("filch: a circle of jobs, each of which would wait for the next:", stderr);
    for (const fi_job *j = last; j; j = j->visited_from) {
        print_name(j);
        fputs(" ->", stderr);
    }
    print_name(last);
    fputc('\n', stderr);
    funlockfile(stderr);
}

bool fi_job_closes_circle(fi_job *job, fi_job *before)
{
    bool closes;

    if (job != before && (!is_awaited(job) || !waits(before)))
        return false;
    fi_lock_lock(&circles);
    closes = reaches(job, before);
    if (closes)
        print_circle(before);
    fi_lock_unlock(&circles);
    return closes;
}
