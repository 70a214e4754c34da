/* When a job's record goes back: it is done, and its user has given it up.
 *
 * A user gives up a job by waiting for it or releasing it, and with it those that it came after, which he
 * therefore need not wait for.  This is done when the later job's record goes back. */
#include "job/job.h"

void *fi_job_record_get(bool large)
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

static void put_back(void *record, bool large)
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
void fi_job_check_runs(const filch_job *job, const char *function)
{
    fi_job *j = fi_tag_record(job);
    uint32_t life = fi_load_relaxed(&j->life);
    bool is_it = fi_tag_is_of(job, fi_life_number_in(life)) && (life & FI_LIFE_UNFINISHED);

    if (!is_it || fi_load_relaxed(&j->own.count) < FI_COUNT_ONE)
        fi_mistake_in(function, FI_JOB_IS_GONE);
}

/* If that was all that the earlier job lived for, it goes to the list. */
static void give_up_earlier(const fi_link *link, fi_job **list)
{
    fi_job *j = link->before;

    if (fi_life_give_up(&j->life, link->before_number)) {
        j->to_visit = *list;
        *list = j;
    }
}

static void end_links(fi_job *j, fi_job **list)
{
    fi_link *link = fi_load_relaxed(&j->more_links);

    if (fi_load_relaxed(&j->has_link))
        give_up_earlier(&j->link, list);
    while (link) {
        fi_link *next = link->next_of_job;
        give_up_earlier(link, list);
        put_back(link, false);
        link = next;
    }
}

/* A long chain of jobs is a long list, not a deep stack. */
static void free_all(fi_job *list)
{
    while (list) {
        fi_job *j = list;
        list = j->to_visit;
        end_links(j, &list);
        put_back(j, true);
    }
}

void fi_job_drop(fi_job *j, uint32_t reason)
{
    if (!fi_life_drop(&j->life, reason))
        return;
    j->to_visit = NULL;
    free_all(j);
}

/* Who gives it up can never submit it: then it ends without running. */
void filch_job_release(filch_job *job)
{
    fi_job *j = fi_job_to_end(job, __func__);

    if (!j)
        return;
    if (!fi_load_relaxed(&j->is_submitted)) {
        fi_life_keep(&j->life); /* else its parent owns it at once, and may free it */
        fi_job_cancel(j);
        fi_job_submit(j);
    }
    fi_job_drop(j, FI_LIFE_HELD);
}

void filch_job_keep(filch_job *job)
{
    if (job)
        fi_life_keep(&fi_job_to_end(job, __func__)->life);
}
