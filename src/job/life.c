/* When a job's record goes back: it is done, and its user has given it up.
 *
 * A user gives up a job by waiting for it or releasing it, and with it those that it came after, which he
 * therefore need not wait for.  This is done when the later job's record goes back.  The earlier one may have been given
 * up before that, and its record may be another job's: a link knows by the number of the life. */
#include "job/job.h"

#define NUMBER (~(uint32_t)(FI_LIFE_NEXT - 1))

void *fi_job_record_get(bool large)
{
    fi_worker *w = fi_worker_self();
    fi_runtime *rt;
    void *record;

    if (w)
        return fi_record_get(large ? &w->large_records : &w->records);
    rt = fi_runtime_enter();
    fi_lock_lock(&rt->outside_lock);
    record = fi_record_get(large ? &rt->large_outside : &rt->outside);
    fi_lock_unlock(&rt->outside_lock);
    fi_runtime_leave(rt);
    return record;
}

void fi_job_record_put(void *record, bool large)
{
    fi_worker *w = fi_worker_self();
    fi_runtime *rt;

    if (w) {
        fi_record_put(large ? &w->large_records : &w->records, record);
        return;
    }
    rt = fi_runtime_enter();
    fi_lock_lock(&rt->outside_lock);
    fi_record_put(large ? &rt->large_outside : &rt->outside, record);
    fi_lock_unlock(&rt->outside_lock);
    fi_runtime_leave(rt);
}

void fi_life_begin(fi_job *j)
{
    uint32_t number = fi_load_relaxed(&j->life) & NUMBER;

    fi_store_relaxed(&j->life, (number + FI_LIFE_NEXT) | FI_LIFE_UNFINISHED | FI_LIFE_HELD);
}

/* True: the job is over, and ours to free.  life.drop -> life.last: our last use of the record before another's
 * first. */
static bool take(fi_job *j, uint32_t bits)
{
    uint32_t seen = fi_load_relaxed(&j->life);

    do
        if (!(seen & bits))
            return false; /* given up already */
    while (!fi_cas_release(&j->life, &seen, seen & ~bits, life.drop));
    if ((seen & ~bits) & (FI_LIFE_UNFINISHED | FI_LIFE_HELD))
        return false;
    (void)fi_load_acquire(&j->life, life.last); /* <- life.drop */
    return true;
}

/* Whether it was there, held and not kept, when the link was made and is so still. */
static bool give_up_earlier(const fi_link *link)
{
    fi_job *j = link->before;
    uint32_t seen = fi_load_relaxed(&j->life);

    do {
        if ((seen & NUMBER) != link->before_life ||
            (seen & (FI_LIFE_HELD | FI_LIFE_KEPT)) != FI_LIFE_HELD)
            return false;
    } while (!fi_cas_release(&j->life, &seen, seen & ~(uint32_t)FI_LIFE_HELD, life.give_up));
    if (seen & FI_LIFE_UNFINISHED)
        return false;
    (void)fi_load_acquire(&j->life, life.given_up); /* <- life.drop */
    return true;
}

/* The job is over.  Its links go, and those earlier jobs that are over by this are put on the list. */
static fi_job *unlink_all(fi_job *j, fi_job *list)
{
    fi_link *link = fi_load_relaxed(&j->more_links);

    if (fi_load_relaxed(&j->has_link) && give_up_earlier(&j->link)) {
        j->link.before->to_visit = list;
        list = j->link.before;
    }
    while (link) {
        fi_link *next = link->next_of_job;
        if (give_up_earlier(link)) {
            link->before->to_visit = list;
            list = link->before;
        }
        fi_job_record_put(link, false);
        link = next;
    }
    return list;
}

/* A long chain of jobs is a long list, not a deep stack. */
static void end_all(fi_job *list)
{
    while (list) {
        fi_job *j = list;
        list = unlink_all(j, j->to_visit);
        fi_job_record_put(j, true);
    }
}

void fi_life_drop(fi_job *j, uint32_t bits)
{
    if (!take(j, bits))
        return;
    j->to_visit = NULL;
    end_all(j);
}

void fi_life_give_up(fi_job *j)
{
    if (!(fi_load_relaxed(&j->life) & FI_LIFE_KEPT))
        fi_life_drop(j, FI_LIFE_HELD);
}

void filch_job_release(filch_job *job)
{
    fi_life_drop(fi_job_of(job), FI_LIFE_HELD | FI_LIFE_KEPT);
}

void filch_job_keep(filch_job *job)
{
    FI_ATOMIC(uint32_t) *life = &fi_job_of(job)->life;
    uint32_t seen = fi_load_relaxed(life);

    while (!fi_cas_relaxed(life, &seen, seen | FI_LIFE_KEPT))
        continue;
}
