/* What comes after what, and what is part of what. */
#include "job/job.h"

#include <errno.h>

/* ---- after ---- */

/* The first link of a job is in its record. */
static fi_link *new_link(fi_job *j)
{
    uint32_t no = 0;
    fi_link *link, *first;

    if (fi_cas_relaxed(&j->has_link, &no, 1))
        return &j->link;
    link = fi_job_record_get(false);
    if (!link)
        return NULL;
    first = fi_load_relaxed(&j->more_links);
    do
        link->next_of_job = first;
    while (!fi_cas_relaxed(&j->more_links, &first, link));
    return link;
}

static void unblock(fi_job *j)
{
    if (fi_way_clear(&j->in_way))
        fi_job_queue(j);
}

static int add_link(fi_job *j, fi_job *before)
{
    fi_link *link = new_link(j);

    if (!link)
        return -ENOMEM;
    link->job = j;
    link->before = before;
    link->before_number = fi_life_number(&before->life);
    if (!fi_links_add(&before->followers, link))
        return -EALREADY;
    return 0;
}

/* Of a job that is done, we must see how it ended. */
static void after_done(fi_job *j, fi_job *before)
{
    int error = fi_job_result(before);

    if (error != 0) {
        fi_group_fail(&j->own, error);
        fi_group_cancel(&j->own);
    }
}

int filch_job_after(filch_job *job, filch_job *before)
{
    fi_job *j = fi_job_of(job), *b = fi_job_of(before);
    int e;

    if (!j || !b)
        return -EINVAL;
    if (!fi_way_block(&j->in_way))
        return -EBUSY;
    e = fi_job_closes_circle(j, b) ? -ELOOP : add_link(j, b);
    if (e == -EALREADY)
        after_done(j, b);
    if (e != 0)
        unblock(j);
    return e == -EALREADY ? 0 : e;
}

int filch_job_then(filch_job *before, filch_job *job)
{
    int e = filch_job_after(job, before);

    return e < 0 ? e : filch_job_submit(job);
}

/* ---- part of ---- */

static int join(fi_job *j, fi_group *g)
{
    if (j->in || fi_load_relaxed(&j->is_submitted))
        return -EBUSY;
    j->in = g;
    return 0;
}

int filch_job_parent(filch_job *child, filch_job *parent)
{
    fi_job *j = fi_job_of(child), *p = fi_job_of(parent);

    if (!j || !p)
        return -EINVAL;
    if (j->in || fi_load_relaxed(&j->is_submitted))
        return -EBUSY;
    if (fi_job_closes_circle(p, j))
        return -ELOOP;
    if (!fi_count_up_if_any(&p->own.count))
        return -EBUSY;
    return join(j, &p->own);
}

int filch_job_group(filch_job *job, filch_group *g)
{
    int e = job ? join(fi_job_of(job), fi_group_of(g)) : -EINVAL;

    if (e == 0)
        fi_count_up(&fi_group_of(g)->count);
    return e;
}
