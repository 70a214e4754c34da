/* A job: a record with everything in it, so that making one is taking a record.  The map of this room; each file has its
 * part: job.c makes, submits, runs and ends jobs, order.c says what comes after what, circle.c finds circles, life.c
 * tells when the record goes back, pump.c runs jobs in a thread of the user's. */
#ifndef FI_JOB_JOB_H
#define FI_JOB_JOB_H

#include "base/compiler.h"
#include "base/fatal.h"
#include "job/deps.h"
#include "job/group.h"
#include "job/ref.h"
#include "sched/runtime.h"
#include "sched/tag.h"

struct fi_job {
    fi_runnable runnable; /* first: it is what stands in a queue */
    fi_ref ref;           /* its number is the tag of the user's handle */
    FI_ATOMIC(uint32_t) n_blockers;
    union {
        void (*run)(void *arg);
        int (*try)(void *arg);
    } work;
    void *arg;
    fi_group *parent_group; /* its parent's or its user's; NULL: none */
    fi_group self_group;    /* itself and its children */

    fi_successors successors;
    fi_dep first_dep;                 /* to the first that it comes after */
    FI_ATOMIC(fi_dep *) more_deps;    /* to the others */
    FI_ATOMIC(uint32_t) has_dep;      /* link is in use */
    FI_ATOMIC(uint32_t) is_submitted; /* 1: yes */
    filch_pump *pump;                 /* NULL: any worker */
    const char *name;
    bool may_fail;
    uint8_t priority;

    /* Under the lock of circle.c. */
    uint32_t visit;
    fi_job *to_visit, *visited_from;

    _Alignas(16) char payload[FILCH_JOB_PAYLOAD_MAX];
};

_Static_assert(offsetof(fi_job, ref) + sizeof(fi_ref) <= FI_RECORD_HEAD,
               "links and handles look at the ref of jobs that are gone");

#define FI_JOB_STALE "the job was already waited for or released"

/* [any] The user's handle of the job. */
static inline filch_job *fi_job_handle(fi_job *j)
{
    return j ? fi_tag_handle(j, fi_ref_generation(&j->ref)) : NULL;
}

/* [user, in this function of the API] Does the user still own the job of this handle? */
static inline bool fi_job_is_owned(const filch_job *job, fi_job *j)
{
    uint32_t ref = fi_load_relaxed(&j->ref);

    return (ref & FI_REF_USER) && fi_tag_is_of(job, fi_ref_generation_in(ref));
}

/* [user] The user does not own it.  Aborts, unless its own work uses it while it runs.  life.c */
void fi_job_check_running(const filch_job *job, const char *function);

/* [user, in this function of the API] The job, which the caller may use; NULL for NULL. */
static inline fi_job *fi_job_of(const filch_job *job, const char *function)
{
    fi_job *j = fi_tag_record(job);

    if (FI_UNLIKELY(j && !fi_job_is_owned(job, j)))
        fi_job_check_running(job, function);
    return j;
}

/* [user, in this function of the API] The job, which the caller may wait for or release; NULL: the
 * handle is NULL. */
static inline fi_job *fi_job_owned(const filch_job *job, const char *function)
{
    fi_job *j = fi_tag_record(job);

    if (FI_UNLIKELY(j && !fi_job_is_owned(job, j)))
        fi_mistake_in(function, FI_JOB_STALE);
    return j;
}

static inline fi_job *fi_job_of_group(fi_group *group)
{
    return (fi_job *)(void *)((char *)group - offsetof(fi_job, self_group));
}

/* [any] NULL: none, or a group that is no job's. */
static inline fi_job *fi_job_parent_of(const fi_job *j)
{
    bool has = j->parent_group && (fi_load_relaxed(&j->parent_group->pending) & FI_PENDING_OF_JOB);

    return has ? fi_job_of_group(j->parent_group) : NULL;
}

/* [any, when it is done] 0, or how it failed.  job.c */
int fi_job_result(fi_job *j);

/* [any] Nothing is in its way, and it has a pump.  pump.c */
void fi_pump_push(filch_pump *p, fi_job *j);

/* [any] The job that the calling thread runs in a pump; NULL: none.  pump.c */
fi_job *fi_pump_running(void);

/* [any] Nothing is in its way: put it into a queue.  job.c */
void fi_job_queue(fi_job *j);

/* [pump or worker] Its work, unless it was cancelled.  The job may be gone after fi_group_done(&j->self_group, 1). */
void fi_job_run_work(fi_job *j);

/* [who has ended the last piece of its own group] The job is done, and may be gone afterwards.  job.c */
void fi_job_finish_all(fi_group *group);

/* [any] filch_job_after for handles that were checked.  order.c */
int fi_job_after(fi_job *j, fi_job *dependency);

/* [any] The same for filch_job_submit and filch_job_cancel.  job.c */
int fi_job_submit(fi_job *j);
void fi_job_cancel(fi_job *j);

/* Circles.  circle.c
 * fi_cycle_would_close: [lock held, job's end is held up] Does `before` wait for job, itself or through others?
 *     Then say so.
 * fi_cycle_possible: [any] Does `before` wait for anything at all? */
void fi_cycle_lock(void);
void fi_cycle_unlock(void);
bool fi_cycle_would_close(fi_job *job, fi_job *dependency);
bool fi_cycle_possible(fi_job *dependency);

/* [any] A record for a job or a link.  life.c */
void *fi_job_record_alloc(bool large);

/* [who has that reason] Drop it; the job may be gone.  life.c */
void fi_job_drop(fi_job *j, uint32_t reason);

#endif
