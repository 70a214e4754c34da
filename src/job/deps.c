/* What comes after what, and what is part of what. */
#include "job/job.h"

#include "sched/span.h"

#include <errno.h>

/* ---- after ---- */

/* The first edge of a job is in its record. */
static fi_dep *dep_alloc(fi_job *j)
{
    uint32_t no = 0;

    if (fi_cas_relaxed(&j->has_dep, &no, 1))
        return &j->first_dep;
    return fi_job_record_alloc(false);
}

void fi_dep_free(fi_dep *dep)
{
    if (dep != &dep->successor->first_dep)
        fi_job_record_free(dep, false);
}

static void unblock(fi_job *j)
{
    if (fi_blockers_remove(&j->n_blockers))
        fi_job_queue(j);
}

/* [circles locked] */
static int dep_add(fi_job *j, fi_job *dependency)
{
    fi_dep *dep;

    if (fi_cycle_would_close(j, dependency))
        return -ELOOP;
    dep = dep_alloc(j);
    if (!dep)
        return -ENOMEM;
    dep->successor = j;
    if (fi_successors_add(&dependency->successors, dep))
        return 0;
    fi_dep_free(dep);
    return -EALREADY;
}

/* Of a job that is done, we must see how it ended. */
static void after_done(fi_job *j, fi_job *dependency)
{
    int error = fi_job_result(dependency);

    FI_SPAN(merge(&dependency->self_group, &j->runnable));
    if (error != 0) {
        fi_group_fail(&j->self_group, error);
        fi_group_cancel(&j->self_group);
    }
}

int fi_job_after(fi_job *j, fi_job *dependency)
{
    int e;

    if (!fi_blockers_add(&j->n_blockers))
        return -EBUSY;
    fi_cycle_lock();
    e = dep_add(j, dependency);
    fi_cycle_unlock();
    if (e == -EALREADY)
        after_done(j, dependency);
    if (e != 0)
        unblock(j);
    return e == -EALREADY ? 0 : e;
}

int filch_job_after(filch_job *job, filch_job *dependency)
{
    fi_job *j = fi_job_of(job, __func__), *d = fi_job_of(dependency, __func__);

    return j && d ? fi_job_after(j, d) : -EINVAL;
}

int filch_job_then(filch_job *dependency, filch_job *job)
{
    fi_job *j = fi_job_of(job, __func__), *d = fi_job_of(dependency, __func__);
    int e = j && d ? fi_job_after(j, d) : -EINVAL;

    return e < 0 ? e : fi_job_submit(j);
}

/* ---- part of ---- */

/* Who waits for nothing closes no circle, and nobody who looks for one comes by it. */
static bool adopt(fi_job *child, fi_job *parent)
{
    bool looked = fi_cycle_possible(child), closes = false;

    if (looked) {
        fi_cycle_lock();
        closes = fi_cycle_would_close(parent, child);
    }
    if (!closes)
        child->parent_group = &parent->self_group;
    if (looked)
        fi_cycle_unlock();
    return !closes;
}

/* The parent is counted up first, so that it and all that waits for it stay unfinished while we look. */
int filch_job_set_parent(filch_job *child, filch_job *parent)
{
    fi_job *j = fi_job_of(child, __func__), *p = fi_job_of(parent, __func__);

    if (!j || !p)
        return -EINVAL;
    if (j->parent_group || fi_load_relaxed(&j->is_submitted) ||
        !fi_pending_try_add(&p->self_group.pending))
        return -EBUSY;
    if (adopt(j, p))
        return 0;
    fi_pending_done(&p->self_group, 1);
    return -ELOOP;
}

int filch_job_set_group(filch_job *job, filch_group *g)
{
    fi_job *j = fi_job_of(job, __func__);

    if (!j)
        return -EINVAL;
    if (j->parent_group || fi_load_relaxed(&j->is_submitted))
        return -EBUSY;
    j->parent_group = fi_group_of(g);
    fi_pending_add(&j->parent_group->pending);
    return 0;
}
