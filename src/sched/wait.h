/* Waiting, for whoever waits: a fiber parks, a thread blocks.  All that users wait for is made of this: a latch, what it
 * guards, and lines of those who wait.
 *
 *     fi_hold(&m->latch)                        who wakes, under the same latch:
 *     if (it is not so)                           fi_wait *w = fi_line_take(&m->line);
 *         e = fi_wait_in(&m->line, ...)           if (w) w->result = 0;
 *     else                                        fi_let_go(&m->latch);
 *         fi_let_go(&m->latch), e = 0;            if (w) fi_wait_end(w);
 *
 * A wait stands in its line from fi_wait_in on, until somebody takes it out under the latch: whoever brings what it waits
 * for, its deadline, or who cancels its fiber.  Who took it out wakes it, and nobody else may.  The latch is let go only
 * after the fiber has left its stack, so whoever finds the wait in line may make the fiber ready.
 *
 * A wait that stands in several lines (select) is taken out of one by whoever claims it first.
 */
#ifndef FI_SCHED_WAIT_H
#define FI_SCHED_WAIT_H

#include "base/biased_lock.h"
#include "base/timer_heap.h"
#include "base/tls.h"
#include "sched/fiber.h"

typedef struct fi_wait fi_wait;
typedef struct fi_runtime fi_runtime;

/* Circular, NULL: nobody waits. */
typedef struct fi_line {
    fi_wait *first;
} fi_line;

/* What is being waited for, in words: "mutex", "send". */
typedef struct fi_wait_for {
    const char *what;
    const void *object;
} fi_wait_for;

/* On the stack of who waits.  What a room needs besides stands around it.  It starts zeroed, or with fi_wait_init. */
struct fi_wait {
    fi_wait *next, *prev;      /* in line */
    FI_ATOMIC(fi_line *) line; /* where it stands; NULL: in none.  Under the latch */
    fi_biased_lock *latch;
    fi_fiber *fiber;  /* NULL: a thread, at the gate */
    int64_t since_ns; /* by a coarse clock */
    FI_ATOMIC(uint32_t) gate;
    int result; /* set by who takes it out */
    void *item; /* what it brings, or where it wants it: the room's */
    fi_wait_for what;
    bool stubborn;                /* filch_fiber_cancel does not end it with -ECANCELED */
    bool freeable;                /* the object may be freed as soon as the wait was removed */
    bool (*withdraw)(fi_wait *w); /* end it before its time; true: it is ours, and is to be woken */
    /* [latch held] It leaves its line before its time.  NULL: the room does not mind. */
    void (*left)(fi_wait *w);
    fi_timer timer;
    /* Of a wait that stands in several lines there is a part in each, and the whole in none. */
    fi_wait *whole;
    fi_wait *twin; /* of a part: another part under the same latch, which is removed with it */
    uint32_t part; /* of the whole, from 1 */
    bool counted;  /* a thread waits that only this wait can wake (sched/watchdog.h) */
    FI_ATOMIC(uint32_t) claim; /* of the whole: which part was taken out first; 0: none yet */
};

/* [who waits] All that is not set later.  The whole is much for one who waits for nanoseconds. */
static inline void fi_wait_init(fi_wait *w, void *item)
{
    w->item = item;
    w->stubborn = false;
    w->freeable = false;
    w->left = NULL;
    w->whole = NULL;
}

/* [any] One at a time; who needs several takes them by fi_hold_also. */
static inline void fi_hold(fi_biased_lock *l)
{
    fi_biased_lock_lock(l, fi_lock_id());
}

static inline void fi_hold_also(fi_biased_lock *l)
{
    fi_biased_lock_lock_slow(l, FI_LOCK_ID_NONE);
}

/* [holder] */
static inline void fi_let_go(fi_biased_lock *l)
{
    fi_biased_lock_unlock(l, l->slow ? FI_LOCK_ID_NONE : fi_lock_id());
}

/* [latch held, which this lets go] Stand at the end of the line until taken out, late, or cancelled.
 * Returns: the result that the waker has set; -ETIMEDOUT; -ECANCELED; -ENOMEM, with a deadline. */
int fi_wait_in(fi_wait *w, fi_line *line, fi_biased_lock *latch, fi_wait_for what,
               int64_t deadline_ns);

/* The same, before all others in the line. */
int fi_wait_in_first(fi_wait *w, fi_line *line, fi_biased_lock *latch, fi_wait_for what,
                     int64_t deadline_ns);

/* The same, and once the latch is let go, then(arg) is called: not on the stack of who waits, which may go on already. */
int fi_wait_in_then(fi_wait *w, fi_line *line, fi_biased_lock *latch, fi_wait_for what,
                    int64_t deadline_ns, void (*then)(void *arg), void *arg);

/* [latches of all lines held, which let_go(arg) lets go] The same for the whole of a wait, whose parts were added to
 * their lines, with a latch of its own, which is free.  Afterwards those that were not taken out still stand there.
 * Returns: the part that was taken out; -ETIMEDOUT; -ECANCELED; -ENOMEM. */
int fi_wait_in_parts(fi_wait *whole, fi_biased_lock *own, fi_wait_for what,
                     void (*let_go)(void *arg), void *arg, int64_t deadline_ns);

/* [latch held] Of a part, whole and part are set. */
void fi_line_add(fi_line *line, fi_biased_lock *latch, fi_wait *w);
void fi_line_remove(fi_wait *w);

/* [latch held] The first in line, taken out; NULL: nobody. */
fi_wait *fi_line_take_of_many(fi_line *line);
static inline fi_wait *fi_line_take(fi_line *line)
{
    fi_wait *w = line->first;

    if (!w || w->next != w || w->whole)
        return fi_line_take_of_many(line);
    line->first = NULL;
    fi_store_relaxed(&w->line, NULL);
    return w;
}

/* [who has taken it out, latch let go] Wake it; it may be gone at once. */
void fi_wait_end(fi_wait *w);

/* [any] The object with this latch is about to be freed, and there are no waits in its lines.
 * Return when no late deadline or cancellation of a freeable wait will take the latch again. */
void fi_wait_before_free(const fi_biased_lock *latch);

/* [any, while the fiber exists] Pin the fiber: it and the object that it waits for exist until it
 * is unpinned. */
void fi_wait_pin(fi_fiber *f);
void fi_wait_unpin(fi_fiber *f);

/* [thread that has pinned it] Set its flag, and end a cancellable wait with -ECANCELED. */
void fi_wait_cancel(fi_fiber *f);

/* [fiber] Wait until nobody has pinned it. */
void fi_wait_leave_alone(fi_fiber *f);

/* [any, who knows that the fiber stays] What it waits for; false: nothing. */
bool fi_wait_look(fi_fiber *f, fi_wait_for *what);

/* [any, who knows that the fiber stays] Keep it where it is until fi_wait_thaw, which must come soon.
 * waiting: what it waits for, NULL: nothing.
 * Returns: NULL: it is away, and its saved point and its stack stay as they are; else the worker that runs it. */
fi_worker *fi_wait_freeze(fi_runtime *rt, fi_fiber *f, const fi_wait **waiting);
void fi_wait_thaw(fi_fiber *f);

/* [who has frozen its fiber] Was it ended, so that the fiber only waits to be run?  Relaxed: it was, or is about to be. */
bool fi_wait_is_over(const fi_wait *w);

/* [any] Let others run. */
void fi_wait_yield(void);

/* [any, at the beginning of what users call] Maybe let others run, by bad luck (base/chaos.h). */
#ifdef FILCH_CHAOS
void fi_wait_chaos(void);
#else
#define fi_wait_chaos() ((void)0)
#endif

#endif
