/* A job: one pooled record with all of its data.
 *
 *     job.c       makes, submits, runs, ends, waits for and releases jobs
 *     pending.h   the number of unfinished members of a group, and whether a waiter waits for them
 *     group.c     groups: functions without a handle, and waiting for them
 *     deadline.c  a timer that cancels a group
 *     ref.h       the references to a job's record
 *     deps.[ch]   dependencies between jobs, parents and groups of jobs
 *     cycle.c     detects cycles of dependencies
 *     pump.c      jobs that a thread of the user runs */
#ifndef FI_JOB_JOB_H
#define FI_JOB_JOB_H

#include "base/compiler.h"
#include "base/fatal.h"
#include "base/tag.h"
#include "job/deps.h"
#include "job/group.h"
#include "job/ref.h"
#include "sched/runtime.h"

struct fi_job {
    fi_runnable runnable; /* first: queues hold it */
    fi_ref ref;
    FI_ATOMIC(uint32_t) n_blockers;
    union {
        void (*run)(void *arg);
        int (*try)(void *arg);
    } work;
    void *arg;
    fi_group self_group; /* the job's own work and its children */

    fi_successors successors;
    fi_dep first_dep;            /* of the first call that adds a dependency */
    FI_ATOMIC(uint32_t) has_dep; /* 1: first_dep is or was in use */
    filch_pump *pump;            /* NULL: any worker runs it */
    const char *name;
    bool may_fail;
    uint8_t priority;

    /* Guarded by the lock of cycle.c. */
    uint32_t visit;
    fi_job *to_visit, *visited_from;

    _Alignas(16) char payload[FILCH_JOB_PAYLOAD_MAX];
};

_Static_assert(offsetof(fi_job, ref) + sizeof(fi_ref) <= FI_RECORD_HEAD,
               "the check of a handle reads the reference word of a freed job");

#define FI_JOB_STOPPED "the runtime of the job was stopped"
#define FI_JOB_STALE   "the job was already waited for or released, or belongs to its parent or group"

/* [any] The user's handle of the job; NULL for NULL. */
static inline filch_job *fi_job_handle(fi_job *j)
{
    return j ? fi_tag_handle(j, fi_ref_generation(&j->ref)) : NULL;
}

/* [user] Does the user still own the job of this handle? */
static inline bool fi_job_is_owned(const filch_job *job, fi_job *j)
{
    uint32_t ref = fi_load_relaxed(&j->ref);

    return (ref & FI_REF_USER) && fi_tag_is_of(job, fi_ref_generation_in(ref));
}

/* [user, in this function of the API] Abort unless the job of the handle is unfinished: then its
 * own work may use it.  job.c */
void fi_job_check_running(const filch_job *job, const char *function);

/* [user, in this function of the API] The record of a handle; NULL for NULL. */
static inline fi_job *fi_job_record(const filch_job *job, const char *function)
{
    fi_job *j = fi_tag_record(job);

    if (FI_UNLIKELY(j && !fi_runtime_has_objects))
        fi_fatal("%s: " FI_JOB_STOPPED, function);
    return j;
}

/* [user, in this function of the API] The job of a handle that the caller may use; NULL for
 * NULL. */
static inline fi_job *fi_job_of(const filch_job *job, const char *function)
{
    fi_job *j = fi_job_record(job, function);

    if (FI_UNLIKELY(j && !fi_job_is_owned(job, j)))
        fi_job_check_running(job, function);
    return j;
}

/* [user, in this function of the API] The job of a handle that the caller may wait for or
 * release; NULL for NULL. */
static inline fi_job *fi_job_owned(const filch_job *job, const char *function)
{
    fi_job *j = fi_job_record(job, function);

    if (FI_UNLIKELY(j && !fi_job_is_owned(job, j)))
        fi_fatal("%s: " FI_JOB_STALE, function);
    return j;
}

/* [user, in this function of the API] Report a job that is NULL.  Returns -EINVAL.  job.c */
int fi_job_is_null(const char *function, const char *argument) __attribute__((cold));

static inline fi_job *fi_job_of_group(fi_group *self_group)
{
    return (fi_job *)(void *)((char *)self_group - offsetof(fi_job, self_group));
}

/* [any that keeps the job] self_group of the parent, or the user's group; NULL: none. */
static inline fi_group *fi_job_parent_group(fi_job *j)
{
    return (fi_group *)(void *)fi_load_relaxed(&j->self_group.scope.parent);
}

/* [any] NULL: it has no parent; its group, if any, is the user's. */
static inline fi_job *fi_job_parent_of(fi_job *j)
{
    fi_group *g = fi_job_parent_group(j);
    bool has = g && (fi_load_relaxed(&g->pending) & FI_PENDING_OF_JOB);

    return has ? fi_job_of_group(g) : NULL;
}

/* [any, when it is done] 0 or the job's error.  job.c */
int fi_job_result(fi_job *j);

/* [any] Append a job without blockers to its pump.  pump.c */
void fi_pump_push(filch_pump *p, fi_job *j);

/* [any] The job that the calling thread runs in a pump; NULL: none.  pump.c */
fi_job *fi_pump_running(void);

/* [any] Queue a job without blockers.  job.c */
void fi_job_queue(fi_job *j);

/* [pump or worker] Run its work unless it was cancelled.  The job may be freed after
 * fi_pending_done(&j->self_group, 1).  job.c */
void fi_job_run_work(fi_job *j);

/* [caller that ended the last member of its self_group] Unblock the successors and drop the
 * run's reference.  The job may be freed afterwards.  Returns the group in which the job still
 * must be counted as done; NULL: none.  job.c */
fi_group *fi_job_finish(fi_job *j);

/* [any] filch_job_after, filch_job_submit and filch_job_cancel for handles that were checked.
 * deps.c, job.c */
int fi_job_after(fi_job *j, fi_job *dependency);
int fi_job_submit(fi_job *j);
void fi_job_cancel(fi_job *j);

/* [any] Does the job wait for a dependency or a child?  May be true a little longer. */
static inline bool fi_job_waits(fi_job *j)
{
    return fi_load_relaxed(&j->has_dep) ||
           fi_load_relaxed(&j->self_group.pending) >= 2 * FI_PENDING_ONE;
}

/* Cycles of jobs, of which each waits for the next.  cycle.c
 * The edge by which job waits for dependency is in place, and job cannot finish during the calls.
 * fi_cycle_possible: [any] Could it close a cycle?  If not, no further check is needed.
 * fi_cycle_closed: [lock held] Does it close one?  Then report it; the caller removes the edge
 *     before it unlocks. */
void fi_cycle_lock(void);
void fi_cycle_unlock(void);
bool fi_cycle_possible(fi_job *job, fi_job *dependency);
bool fi_cycle_closed(fi_job *job, fi_job *dependency);

/* [any] A record for a job or an edge; NULL: no memory.  job.c */
void *fi_job_record_alloc(fi_record_class class);
void fi_job_record_free(fi_record_class class, void *record);

/* [caller that has taken the edge off its list] deps.c */
void fi_dep_free(fi_dep *dep);

#endif
