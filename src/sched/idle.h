/* Who has nothing to do: the workers that search and the workers that sleep.
 *
 * The problem.  A worker that finds nothing must sleep, or an idle process burns its CPUs; who makes
 * work must wake one, or the work waits for ever.  Both look at the other's word after writing their
 * own, so neither may look too early:
 *
 *     who makes work                          who goes to sleep
 *     1. put it where others find it          1. become a sleeper (and no searcher)
 *     2. fence  idle.notify.fence             2. fence  idle.sleep.fence
 *     3. nobody searches, somebody sleeps?    3. look everywhere once more
 *        wake one, as a searcher                 something?  take the sleep back
 *
 * Of the two fences one comes first.  If it is the left one, step 3 on the right finds the work.  If it
 * is the right one, step 3 on the left finds the sleeper.
 *
 * Why not wake somebody for every piece of work: a wake-up costs microseconds, and a worker that
 * searches already will find it.  That is only true if searchers do not stop one by one: the last who
 * finds work calls fi_idle_notify before running it, as there may be more; the last who finds
 * nothing goes to sleep by the list above.  So while there is work to find, somebody searches or
 * nobody sleeps.
 *
 * A worker with private tasks is work to find as well: step 3 on the right asks it (sched/task_bounds.h).
 *
 * Loans.  A thread from outside that waits for its own work may do it itself, without any wake-up: it
 * borrows a worker whose thread sleeps (sched/caller_runs.h).  That thread sleeps on until the worker was given
 * back, by the right list, and then somebody wakes it; what the guest did to the worker it sees by
 * idle.wake.  If it has found something in its last look but the worker is lent by then, it wakes another.
 *
 * Time.  One of those who sleep, the timer_sleeper, does so only until the next timer is due, and all others for as long as it
 * takes.  An earlier timer, or one that nobody keeps, is work to find, by the lists above: who adds it notifies, and who falls asleep looks
 * whether somebody keeps it.  A keeper that is woken is a searcher, and hands on as all do.  One that is lent is not, so others
 * are lent before it; and where it must be, somebody is woken to keep the time in its place.
 *
 * Polling.  What comes from outside the process is told by a poller (sched/poller.h), and somebody must ask it.  Things
 * that are watched while nobody asks are work to find, so the lists above hold for them as well:
 *
 *     who has one more thing watched          who goes to sleep
 *     1. count it                             1. become a sleeper; nobody polls?  The one who does
 *     2. fence  idle.notify.fence             2. fence  idle.sleep.fence
 *     3. nobody searches, somebody sleeps?    3. something is quiesce_waiters, and nobody polls?
 *        wake one: it finds nothing, and         take the sleep back
 *        sleeps as the one who polls
 *
 * So one sleeper at the most blocks in the poller, and all others on their words.  It is woken by an interrupt of the
 * poller, and last of all, as it sleeps with one ear open.  When it gets up, for whatever reason, it is a searcher, and
 * nobody polls: either it finds nothing and sleeps as before; or it finds work, and then it was not the last searcher or
 * wakes another, who finds nothing, and sleeps as the one who polls.  It is not lent: what the poller has told it
 * could not be put into the queues of a worker that is a guest's.
 */
#ifndef FI_SCHED_IDLE_H
#define FI_SCHED_IDLE_H

#include "base/atomic.h"
#include "base/compiler.h"
#include "base/lock.h"

#include <stdbool.h>
#include <stdint.h>

#define FI_IDLE_SEARCHER 0x10000u /* in fi_idle.state: searchers above, sleepers below */

/* One for each worker. */
enum { FI_AWAKE, FI_ASLEEP, FI_LENT };
typedef struct fi_sleeper {
    FI_ATOMIC(uint32_t) asleep; /* one of these, written under the lock; its owner sleeps on it */
    struct fi_sleeper *next;
} fi_sleeper;

typedef struct fi_poller fi_poller;

typedef struct fi_idle {
    FI_CACHE_ALIGNED FI_ATOMIC(uint32_t) state;
    FI_CACHE_ALIGNED fi_lock lock;   /* guards the list, and changes of the number of sleepers */
    fi_sleeper *sleepers;            /* the last to fall asleep first: it is the warmest */
    bool quiesce_waiters;            /* somebody waits until all are asleep */
    FI_ATOMIC(uint32_t) quiesce_seq; /* how often one fell asleep while watched */
    fi_sleeper *timer_sleeper;       /* who sleeps until a deadline; NULL: nobody */
    FI_ATOMIC(int64_t) timer_sleeper_ns; /* until when; written under the lock */
    fi_poller *poller;                   /* NULL: none yet */
    FI_ATOMIC(fi_sleeper *) polling;     /* who sleeps in it; written under the lock */
    FI_ATOMIC(uint32_t) n_interests;     /* how many things it watches */
    uint32_t polls;                      /* how often a sleeper has begun to poll */
} fi_idle;

/* [any] All awake, none searching. */
void fi_idle_init(fi_idle *i);

/* [any] Does anybody want work?  Call after a fence. */
static inline bool fi_idle_hungry(fi_idle *i)
{
    return fi_load_relaxed(&i->state) != 0;
}

/* [any] */
static inline bool fi_idle_any_asleep(fi_idle *i)
{
    return fi_load_relaxed(&i->state) % FI_IDLE_SEARCHER > 0;
}

/* [any] Does nobody do anything but search and sleep? */
static inline bool fi_idle_all(fi_idle *i, unsigned workers)
{
    uint32_t state = fi_load_relaxed(&i->state);

    return state / FI_IDLE_SEARCHER + state % FI_IDLE_SEARCHER >= workers;
}

/* [worker] May I search?  Not while half of those awake do already: they would only be in each
 * other's way. */
bool fi_idle_search_begin(fi_idle *i, unsigned workers);

/* [searcher] I found work.  True: I was the last to search, and must call fi_idle_notify. */
bool fi_idle_search_end(fi_idle *i);

/* [any] There is new work, where others find it: wake a worker if none searches.  True: woke one. */
bool fi_idle_notify(fi_idle *i);

/* [any] Until when the first sleeper sleeps; FI_FUTEX_FOREVER: nobody has a deadline.  Before a sleep: after a fence. */
static inline int64_t fi_idle_timer_deadline(fi_idle *i)
{
    return fi_load_relaxed(&i->timer_sleeper_ns);
}

/* [worker] Sleep until woken or until the deadline, if nobody keeps that or an earlier one already, unless anything(ctx) finds work or a reason to
 * stay awake.  Afterwards the worker is a searcher. */
void fi_idle_sleep(fi_idle *i, fi_sleeper *s, bool searching, bool (*anything)(void *ctx),
                   void *ctx, int64_t deadline_ns);

/* [any] Of a worker whose thread is yet to start: it is asleep, and the thread begins with the wait. */
void fi_idle_init_asleep(fi_idle *i, fi_sleeper *s);
void fi_idle_wait(fi_sleeper *s);

/* [any] Borrow a worker that sleeps; NULL: none does, or only the one who polls. */
fi_sleeper *fi_idle_borrow(fi_idle *i);

/* [guest] Give it back: it is asleep again, or awake if anything(ctx) finds work. */
void fi_idle_return(fi_idle *i, fi_sleeper *s, bool searching, bool (*anything)(void *ctx),
                    void *ctx);

/* [any] Sleepers may block in this from now on.  The one that is used: there may be one already. */
fi_poller *fi_idle_set_poller(fi_idle *i, fi_poller *p);

/* [any] One more thing is quiesce_waiters; one less. */
void fi_idle_add_interest(fi_idle *i);
void fi_idle_remove_interest(fi_idle *i);

/* [any] Is something watched that nobody asks for?  Before a sleep: after a fence. */
static inline bool fi_idle_is_unpolled(fi_idle *i)
{
    return fi_load_relaxed(&i->n_interests) > 0 && !fi_load_relaxed(&i->polling);
}

/* [watchdog] The kernel, a debugger or a signal handler may keep a thread from running that polls,
 * keeps the time or was woken.  These functions let others act for it (stall.c).
 * fi_idle_poll_seq: a number that changes whenever a sleeper begins to poll; false: no sleeper polls.
 * fi_idle_wake_another: wake a sleeper even if a worker searches already.  If the sleeper that
 * keeps the time should have woken before late_ns, another one is woken. */
bool fi_idle_poll_seq(fi_idle *i, uint32_t *number);
void fi_idle_wake_another(fi_idle *i, int64_t late_ns);

/* [any] Wake everybody. */
void fi_idle_wake_all(fi_idle *i);

/* [any] Do all n workers sleep, and does ask(ctx) return true?  It is called while none of them can
 * wake.  A searcher that asks about all others adds FI_IDLE_SEARCHER to n. */
bool fi_idle_all_asleep(fi_idle *i, unsigned workers, bool (*ask)(void *ctx), void *ctx);

/* [any] Wait until all of so many workers sleep and enough(ctx) agrees, which is asked while all of them do.  Blocks
 * the thread.  False: the deadline has come first. */
bool fi_idle_wait_all_asleep(fi_idle *i, unsigned workers, bool (*enough)(void *ctx), void *ctx,
                             int64_t deadline_ns);

#endif
