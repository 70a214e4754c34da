/* Dependencies between jobs, and the parent or group of a job. */
#include "job/job.h"

#include "base/message.h"
#include "sched/span.h"
#include "wait/cancel.h"

#include <errno.h>

/* ---- dependencies ---- */

/* The first edge of a job is in its record.  It is used once, even if it is refused: has_dep must
 * stay set while the job may have other edges. */
static fi_dep *dep_alloc(fi_job *successor)
{
    uint32_t no = 0;
    fi_dep *dep = fi_cas_relaxed(&successor->has_dep, &no, 1)
                      ? &successor->first_dep
                      : fi_job_record_alloc(FI_RECORD_SMALL);

    if (dep)
        dep->successor = successor;
    return dep;
}

void fi_dep_free(fi_dep *dep)
{
    if (dep != &dep->successor->first_dep)
        fi_job_record_free(FI_RECORD_SMALL, dep);
}

static void unblock(fi_job *j)
{
    if (fi_blockers_remove(&j->n_blockers))
        fi_job_queue(j);
}

/* [any, job is blocked] Remove the new edge if it closes a cycle.  Returns 1 or -ELOOP. */
static int check_cycle(fi_job *j, fi_job *dependency, fi_dep *dep)
{
    bool closes;

    if (!fi_cycle_possible(j, dependency))
        return 1;
    fi_cycle_lock();
    closes = fi_cycle_closed(j, dependency);
    if (closes)
        fi_successors_remove(&dependency->successors, dep);
    fi_cycle_unlock();
    if (!closes)
        return 1;
    fi_dep_free(dep);
    return -ELOOP;
}

/* The dependency was done before.  Its error is the error of the job. */
static void after_done(fi_job *j, fi_job *dependency)
{
    int error = fi_job_result(dependency);

    FI_SPAN(merge(&dependency->self_group, &j->runnable));
    if (error != 0)
        fi_group_fail(&j->self_group, error);
}

/* [any, job is blocked] 1: the edge is in place, and removes a blocker later; 0: the dependency
 * is done; or -errno. */
static int dep_add(fi_job *j, fi_job *dependency)
{
    fi_dep *dep = dep_alloc(j);

    if (!dep)
        return -ENOMEM;
    if (fi_successors_add(&dependency->successors, dep))
        return check_cycle(j, dependency, dep);
    fi_dep_free(dep);
    after_done(j, dependency);
    return 0;
}

/* Adds a blocker for the edge, and one for this call: the dependency may be done at once, and
 * the job must not run before the edge was checked. */
int fi_job_after(fi_job *j, fi_job *dependency)
{
    int e;

    if (!fi_blockers_add(&j->n_blockers, 2))
        return -EBUSY;
    e = dep_add(j, dependency);
    if (e <= 0)
        unblock(j);
    unblock(j);
    return e < 0 ? e : 0;
}

int filch_job_after(filch_job *job, filch_job *dependency)
{
    fi_job *j = fi_job_of(job, __func__), *d = fi_job_of(dependency, __func__);

    return j && d ? fi_job_after(j, d) : fi_job_is_null(__func__, j ? "dependency" : "job");
}

int filch_job_then(filch_job *dependency, filch_job *job)
{
    fi_job *j = fi_job_of(job, __func__), *d = fi_job_of(dependency, __func__);
    int e;

    if (!j || !d)
        return fi_job_is_null(__func__, d ? "job" : "dependency");
    e = fi_job_after(j, d);
    return e < 0 ? e : fi_job_submit(j);
}

/* ---- parent and group ---- */

/* A child that waits for nothing cannot close a cycle.  A walk of another thread does not reach
 * it either, so its parent is set without the lock. */
static bool set_parent(fi_job *child, fi_job *parent)
{
    bool closes;

    if (!fi_job_waits(child)) {
        fi_cancel_set_parent(&child->self_group.scope, &parent->self_group.scope);
        return true;
    }
    fi_cycle_lock();
    fi_cancel_set_parent(&child->self_group.scope, &parent->self_group.scope);
    closes = fi_cycle_possible(parent, child) && fi_cycle_closed(parent, child);
    if (closes)
        fi_cancel_set_parent(&child->self_group.scope, NULL);
    fi_cycle_unlock();
    return !closes;
}

/* Its children may wait already, and are cancelled with the parent from now on. */
static void attach_members(fi_job *j)
{
    if (fi_job_waits(j))
        fi_cancel_attach(&j->self_group.scope);
}

/* The parent counts the child first, so that it and all jobs that wait for it stay unfinished
 * during the check. */
int filch_job_set_parent(filch_job *child, filch_job *parent)
{
    fi_job *j = fi_job_of(child, __func__), *p = fi_job_of(parent, __func__);

    if (!j || !p)
        return fi_job_is_null(__func__, j ? "parent" : "child");
    if (fi_job_parent_group(j) || fi_blockers_are_submitted(&j->n_blockers) ||
        !fi_pending_try_add(&p->self_group.pending))
        return -EBUSY;
    if (set_parent(j, p)) {
        attach_members(j);
        return 0;
    }
    fi_pending_done(&p->self_group, 1);
    return -ELOOP;
}

int filch_job_set_group(filch_job *job, filch_group *g)
{
    fi_job *j = fi_job_of(job, __func__);

    if (!j)
        return fi_job_is_null(__func__, "job");
    if (!g)
        return fi_message_null(__func__, "g", "a group");
    if (fi_job_parent_group(j) || fi_blockers_are_submitted(&j->n_blockers))
        return -EBUSY;
    fi_pending_add(&fi_group_of(g)->pending);
    fi_cancel_set_parent(&j->self_group.scope, &fi_group_of(g)->scope);
    attach_members(j);
    return 0;
}
