/* Idle workers: searching and sleeping.
 *
 * A worker that finds no work must sleep, or an idle process would use its CPUs.  A thread that
 * makes work must wake a sleeper, or the work would wait forever.  Each side writes its own word
 * before it reads the word of the other side:
 *
 *     the producer of work                    the worker that goes to sleep
 *     1. push the work to a queue             1. become a sleeper (and stop being a searcher)
 *     2. fence  idle.notify.fence             2. fence  idle.sleep.fence
 *     3. no searcher, and a sleeper?          3. check all queues once more
 *        wake one, as a searcher                 work found?  cancel the sleep
 *
 * One of the two fences comes first.  If it is the left one, step 3 on the right finds the work.
 * If it is the right one, step 3 on the left finds the sleeper.
 *
 * A wake-up costs microseconds, so the producer does not wake a worker while one is searching: the
 * searcher will find the work.  For this to be true, the last searcher must not stop without a
 * successor.  If it finds work, it calls fi_idle_notify before it runs the work, as there may be
 * more.  If it finds nothing, it goes to sleep by the list above.  So while there is work to find,
 * a worker searches or no worker sleeps.
 *
 * A worker with private tasks counts as work too: step 3 on the right requests that it publishes
 * them (sched/task_bounds.h).
 *
 * Loans.  A thread that is not a worker and waits for its own work may run it without a wake-up.
 * It borrows a worker whose thread sleeps (sched/caller_runs.h).  That thread sleeps until the
 * borrower has returned the worker, by the right list, and another thread has woken it.  It sees
 * the changes of the borrower by idle.wake.  If a thread found work in its last check but its
 * worker is lent by then, it wakes another worker.
 *
 * Timers.  One sleeper, the timer sleeper, sleeps only until the next timer is due, in whichever
 * heap that is (sched/timers.h).  The others sleep without a deadline.  A timer that is earlier than
 * the deadline of the timer sleeper counts as work, by the lists above: the thread that adds it
 * notifies, after the fence idle.notify_timer.fence, and a worker that falls asleep checks whether
 * there is a timer sleeper for it.  A timer sleeper that is woken becomes a searcher
 * and passes its duty on as all searchers do.  One that is lent does not, so other sleepers are
 * lent before it.  If it has to be lent, another worker is woken to replace it.
 *
 * Polling.  Events from outside the process come from a poller (sched/poller.h), and a worker must
 * poll it.  Interests that no worker polls for count as work, so the lists above hold for them as
 * well:
 *
 *     the thread that adds an interest        the worker that goes to sleep
 *     1. count it                             1. become a sleeper; no worker polls?  poll
 *     2. fence  idle.notify.fence             2. fence  idle.sleep.fence
 *     3. no searcher, and a sleeper?          3. there are interests, and no worker polls?
 *        wake one: it finds nothing, and         cancel the sleep
 *        sleeps in the poller
 *
 * So at most one sleeper blocks in the poller.  All others block on their own words.  The polling
 * sleeper is woken by an interrupt of the poller, and only if there is no other sleeper, because
 * events wake it anyway.  When it wakes, for whatever reason, it is a searcher, and no worker
 * polls.  If it finds nothing, it sleeps in the poller again.  If it finds work, it was either not
 * the last searcher or wakes another worker, which finds nothing and sleeps in the poller.  The
 * polling sleeper is not lent: the fibers that the poller makes ready could not be pushed to the
 * queues of a lent worker.
 *
 * Bound fibers (sched/bound.h) wait in a queue that only their worker takes from.  The producer
 * wakes that worker, and no searcher replaces it:
 *
 *     the producer                            the worker that goes to sleep
 *     1. push the fiber to the queue          1. become a sleeper
 *     2. fence  idle.wake_this.fence          2. fence  idle.sleep.fence
 *     3. does the worker sleep?  wake it      3. check its own queue once more
 *
 * A worker with bound fibers is not lent.  If a worker gets its first one while it is lent, the
 * borrower checks the queue when it returns the worker.
 */
#ifndef FI_SCHED_IDLE_H
#define FI_SCHED_IDLE_H

#include "base/atomic.h"
#include "base/compiler.h"
#include "base/lock.h"

#include <stdbool.h>
#include <stdint.h>

#define FI_IDLE_SEARCHER 0x10000u /* in fi_idle.state: searchers above, sleepers below */

/* One per worker. */
enum { FI_AWAKE, FI_ASLEEP, FI_LENT };
typedef struct fi_sleeper {
    FI_ATOMIC(uint32_t)
    asleep; /* one of these; written under the lock; the worker's thread sleeps on it */
    struct fi_sleeper *next;
    FI_ATOMIC(uint32_t) n_bound; /* bound fibers of the worker; written under the lock */
} fi_sleeper;

typedef struct fi_poller fi_poller;

typedef struct fi_idle {
    FI_CACHE_ALIGNED FI_ATOMIC(uint32_t) state;
    FI_CACHE_ALIGNED fi_lock lock;       /* guards the list and the number of sleepers */
    fi_sleeper *sleepers;                /* LIFO: the last to fall asleep has the warmest caches */
    FI_ATOMIC(uint32_t) quiesce_waiters; /* not 0: a thread waits until all workers sleep */
    FI_ATOMIC(uint32_t) quiesce_seq;     /* falls asleep while quiesce_waiters is set */
    fi_sleeper *timer_sleeper;           /* sleeps until a deadline; NULL: none */
    FI_ATOMIC(int64_t) timer_sleeper_ns; /* its deadline; written under the lock */
    fi_poller *poller;                   /* NULL: none yet */
    FI_ATOMIC(fi_sleeper *) polling;     /* the sleeper that blocks in it; written under the lock */
    FI_ATOMIC(uint32_t) n_interests;     /* number of events that fibers wait for */
    uint32_t polls;                      /* number of times that a sleeper began to poll */
} fi_idle;

/* [any] All workers are awake, and none searches. */
void fi_idle_init(fi_idle *i);

/* [any] Does a worker search or sleep?  Call after a fence. */
static inline bool fi_idle_hungry(fi_idle *i)
{
    return fi_load_relaxed(&i->state) != 0;
}

/* [any] */
static inline bool fi_idle_any_asleep(fi_idle *i)
{
    return fi_load_relaxed(&i->state) % FI_IDLE_SEARCHER > 0;
}

/* [any] Do all workers search or sleep? */
static inline bool fi_idle_all(fi_idle *i, unsigned workers)
{
    uint32_t state = fi_load_relaxed(&i->state);

    return state / FI_IDLE_SEARCHER + state % FI_IDLE_SEARCHER >= workers;
}

/* [any] Does a thread wait until all workers sleep? */
static inline bool fi_idle_is_awaited(fi_idle *i)
{
    return fi_load_relaxed(&i->quiesce_waiters) != 0;
}

/* [worker] Become a searcher.  False: half of the workers that are awake search already, and more
 * would only contend. */
bool fi_idle_search_begin(fi_idle *i, unsigned workers);

/* [searcher] Stop searching, because work was found.  True: this was the last searcher, which must
 * call fi_idle_notify. */
bool fi_idle_search_end(fi_idle *i);

/* [any] Work was pushed where others find it.  Wake a worker if none searches.  True: woke one. */
bool fi_idle_notify(fi_idle *i);

/* [any] A timer was added that is the first one of its heap.  Wake a worker if none searches, and no
 * sleeper wakes at this deadline or earlier. */
void fi_idle_notify_timer(fi_idle *i, int64_t deadline_ns);

/* [any] Work was pushed that only this worker takes.  Wake it if it sleeps. */
void fi_idle_wake_this(fi_idle *i, fi_sleeper *s);

/* [any] Count one more bound fiber of the worker; one less.
 * fi_idle_bind returns false if the worker is lent and may_be_lent is false. */
bool fi_idle_bind(fi_idle *i, fi_sleeper *s, bool may_be_lent);
void fi_idle_unbind(fi_idle *i, fi_sleeper *s);

/* [any] The deadline of the timer sleeper; FI_FUTEX_FOREVER: there is none.  Before a sleep: call
 * after a fence. */
static inline int64_t fi_idle_timer_deadline(fi_idle *i)
{
    return fi_load_relaxed(&i->timer_sleeper_ns);
}

/* [worker] Sleep until woken or until the deadline, unless anything(ctx) finds work or a reason to
 * stay awake.  The deadline is ignored if the timer sleeper has that or an earlier one.  Afterwards
 * the worker is a searcher. */
void fi_idle_sleep(fi_idle *i, fi_sleeper *s, bool searching, bool (*anything)(void *ctx),
                   void *ctx, int64_t deadline_ns);

/* [any] Make a worker asleep before its thread is started.  The thread begins with fi_idle_wait. */
void fi_idle_init_asleep(fi_idle *i, fi_sleeper *s);
void fi_idle_wait(fi_sleeper *s);

/* [any] Borrow a worker that sleeps; NULL: none sleeps, or only the one that polls and workers with
 * bound fibers. */
fi_sleeper *fi_idle_borrow(fi_idle *i);

/* [borrower] Return the worker: it is asleep again, or awake if anything(ctx) finds work. */
void fi_idle_return(fi_idle *i, fi_sleeper *s, bool searching, bool (*anything)(void *ctx),
                    void *ctx);

/* [any] Let sleepers block in this poller.  Returns the poller that is used, which may be an
 * earlier one. */
fi_poller *fi_idle_set_poller(fi_idle *i, fi_poller *p);

/* [any] Count one more event that a fiber waits for; one less. */
void fi_idle_add_interest(fi_idle *i);
void fi_idle_remove_interest(fi_idle *i);

/* [any] Are there interests while no worker polls?  Before a sleep: call after a fence. */
static inline bool fi_idle_is_unpolled(fi_idle *i)
{
    return fi_load_relaxed(&i->n_interests) > 0 && !fi_load_relaxed(&i->polling);
}

/* [watchdog] The kernel, a debugger or a signal handler may keep a thread from running that polls,
 * is the timer sleeper or was woken.  These functions let others act for it (debug/stall.c).
 * fi_idle_poll_seq: a number that changes whenever a sleeper begins to poll; false: no sleeper
 * polls.
 * fi_idle_wake_another: wake a sleeper even if a worker searches already.  If the timer sleeper
 * should have woken before late_ns, another one is woken. */
bool fi_idle_poll_seq(fi_idle *i, uint32_t *number);
void fi_idle_wake_another(fi_idle *i, int64_t late_ns);

/* [any] Wake all sleepers. */
void fi_idle_wake_all(fi_idle *i);

/* [any] Do all workers sleep, and does ask(ctx) return true?  It is called while none of them can
 * wake.  A searcher that checks all others adds FI_IDLE_SEARCHER to workers. */
bool fi_idle_all_asleep(fi_idle *i, unsigned workers, bool (*ask)(void *ctx), void *ctx);

/* [any] Wait until all workers sleep and enough(ctx) returns true, which is called while none of
 * them can wake.  Blocks the thread.  False: the deadline has passed. */
bool fi_idle_wait_all_asleep(fi_idle *i, unsigned workers, bool (*enough)(void *ctx), void *ctx,
                             int64_t deadline_ns);

#endif
