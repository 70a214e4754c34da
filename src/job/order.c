/* What comes after what, and what is part of what. */
#include "job/job.h"

#include "sched/span.h"

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

/* [circles locked] */
static int add_link(fi_job *j, fi_job *before)
{
    fi_link *link;

    if (fi_circle_would_close(j, before))
        return -ELOOP;
    link = new_link(j);
    if (!link)
        return -ENOMEM;
    link->job = j;
    link->before = before;
    link->before_number = fi_life_number(&before->life);
    return fi_links_add(&before->followers, link) ? 0 : -EALREADY;
}

/* Of a job that is done, we must see how it ended. */
static void after_done(fi_job *j, fi_job *before)
{
    int error = fi_job_result(before);

    FI_SPAN(merge(&before->own, &j->runnable));
    if (error != 0) {
        fi_group_fail(&j->own, error);
        fi_group_cancel(&j->own);
    }
}

int fi_job_after(fi_job *j, fi_job *b)
{
    int e;

    if (!fi_way_block(&j->in_way))
        return -EBUSY;
    fi_circle_lock();
    e = add_link(j, b);
    fi_circle_unlock();
    if (e == -EALREADY)
        after_done(j, b);
    if (e != 0)
        unblock(j);
    return e == -EALREADY ? 0 : e;
}

int filch_job_after(filch_job *job, filch_job *before)
{
    fi_job *j = fi_job_of(job, __func__), *b = fi_job_of(before, __func__);

    return j && b ? fi_job_after(j, b) : -EINVAL;
}

int filch_job_then(filch_job *before, filch_job *job)
{
    fi_job *j = fi_job_of(job, __func__), *b = fi_job_of(before, __func__);
    int e = j && b ? fi_job_after(j, b) : -EINVAL;

    return e < 0 ? e : fi_job_submit(j);
}

/* ---- part of ---- */

/* Who waits for nothing closes no circle, and nobody who looks for one comes by it. */
static bool adopt(fi_job *child, fi_job *parent)
{
    bool looked = fi_circle_may_close(child), closes = false;

    if (looked) {
        fi_circle_lock();
        closes = fi_circle_would_close(parent, child);
    }
    if (!closes)
        child->in = &parent->own;
    if (looked)
        fi_circle_unlock();
    return !closes;
}

/* The parent is counted up first, so that it and all that waits for it stay unfinished while we look. */
int filch_job_set_parent(filch_job *child, filch_job *parent)
{
    fi_job *j = fi_job_of(child, __func__), *p = fi_job_of(parent, __func__);

    if (!j || !p)
        return -EINVAL;
    if (j->in || fi_load_relaxed(&j->is_submitted) || !fi_count_up_if_any(&p->own.count))
        return -EBUSY;
    if (adopt(j, p))
        return 0;
    fi_group_end(&p->own, 1);
    return -ELOOP;
}

int filch_job_set_group(filch_job *job, filch_group *g)
{
    fi_job *j = fi_job_of(job, __func__);

    if (!j)
        return -EINVAL;
    if (j->in || fi_load_relaxed(&j->is_submitted))
        return -EBUSY;
    j->in = fi_group_of(g);
    fi_count_up(&j->in->count);
    return 0;
}
