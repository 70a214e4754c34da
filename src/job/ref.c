/* When a job's record goes back: it is done, and its user has given it up.
 *
 * A user gives up a job by waiting for it or releasing it, and with it those that it came after, which he
 * therefore need not wait for.  This is done when the later job's record goes back. */
#include "job/job.h"

void *fi_job_record_alloc(bool large)
{
    fi_worker *w = fi_worker_self();
    fi_runtime *rt;
    void *record;

    if (w)
        return fi_record_alloc(large ? &w->large_records : &w->records);
    rt = fi_runtime_enter();
    fi_lock_lock(&rt->external_lock);
    record = fi_record_alloc(large ? &rt->external_large_records : &rt->external_records);
    fi_lock_unlock(&rt->external_lock);
    fi_runtime_leave(rt);
    return record;
}

static void job_record_free(void *record, bool large)
{
    fi_worker *w = fi_worker_self();
    fi_runtime *rt;

    if (w) {
        fi_record_free(large ? &w->large_records : &w->records, record);
        return;
    }
    rt = fi_runtime_enter_unchecked();
    if (rt) { /* else it belongs to the runtime of the parent process */
        fi_lock_lock(&rt->external_lock);
        fi_record_free(large ? &rt->external_large_records : &rt->external_records, record);
        fi_lock_unlock(&rt->external_lock);
    }
    fi_runtime_leave(rt);
}

/* Between its end and the release of its record the job no longer runs, although its life word says
 * so. */
void fi_job_check_running(const filch_job *job, const char *function)
{
    fi_job *j = fi_tag_record(job);
    uint32_t ref = fi_load_relaxed(&j->ref);
    bool is_it = fi_tag_is_of(job, fi_ref_generation_in(ref)) && (ref & FI_REF_RUN);

    if (!is_it || fi_load_relaxed(&j->self_group.pending) < FI_PENDING_ONE)
        fi_mistake_in(function, FI_JOB_STALE);
}

/* If that was all that the earlier job lived for, it goes to the list. */
static void give_up_earlier(const fi_dep *dep, fi_job **list)
{
    fi_job *j = dep->dependency;

    if (fi_ref_give_up(&j->ref, dep->dependency_generation)) {
        j->to_visit = *list;
        *list = j;
    }
}

static void end_links(fi_job *j, fi_job **list)
{
    fi_dep *dep = fi_load_relaxed(&j->more_deps);

    if (fi_load_relaxed(&j->has_dep))
        give_up_earlier(&j->first_dep, list);
    while (dep) {
        fi_dep *next = dep->next_of_successor;
        give_up_earlier(dep, list);
        job_record_free(dep, false);
        dep = next;
    }
}

/* A long chain of jobs is a long list, not a deep stack. */
static void free_all(fi_job *list)
{
    while (list) {
        fi_job *j = list;
        list = j->to_visit;
        end_links(j, &list);
        job_record_free(j, true);
    }
}

void fi_job_drop(fi_job *j, uint32_t reason)
{
    if (!fi_ref_drop(&j->ref, reason))
        return;
    j->to_visit = NULL;
    free_all(j);
}

/* Who gives it up can never submit it: then it ends without running. */
void filch_job_release(filch_job *job)
{
    fi_job *j = fi_job_owned(job, __func__);

    if (!j)
        return;
    if (!fi_load_relaxed(&j->is_submitted)) {
        fi_ref_keep(&j->ref); /* else its parent owns it at once, and may free it */
        fi_job_cancel(j);
        fi_job_submit(j);
    }
    fi_job_drop(j, FI_REF_USER);
}

void filch_job_keep(filch_job *job)
{
    if (job)
        fi_ref_keep(&fi_job_owned(job, __func__)->ref);
}
