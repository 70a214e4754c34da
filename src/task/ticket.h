/* A published task: a record in a deque.  Either the fiber that spawned the task claims it back at
 * its sync, or the worker that took the ticket out of a deque (the taker) starts it.
 *
 *     state      next state       set by         then
 *     OPEN       RUNNING          taker          runs the task
 *                CLAIMED          fiber          runs the task; the taker frees the ticket
 *     RUNNING    DONE             taker          the fiber frees the ticket
 *                fiber address    parked fiber   the taker readies the fiber, which frees it
 *
 * So a ticket always has one owner and needs no reference count.  A ticket that was claimed back
 * may stay in a deque long after its task, its slot and its fiber are gone. */
#ifndef FI_TASK_TICKET_H
#define FI_TASK_TICKET_H

#include "base/atomic.h"
#include "sched/runnable.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    FI_TICKET_OPEN,
    FI_TICKET_RUNNING,
    FI_TICKET_CLAIMED,
    FI_TICKET_DONE,
};

typedef struct fi_ticket {
    fi_runnable runnable; /* first: the item of the deque */
    FI_ATOMIC(uintptr_t) state;
    void *slot;     /* on the task stack of the fiber; invalid once it is claimed back */
    fi_fiber *root; /* its cancellation cancels the task; NULL: none */
} fi_ticket;

/* [fiber] */
static inline void fi_ticket_init(fi_ticket *t, void *slot)
{
    /* Relaxed: only the fiber has the record until the deque publishes it. */
    fi_store_relaxed(&t->state, FI_TICKET_OPEN);
    t->slot = slot;
}

/* [taker] Claim the task to run it.  False: it was claimed back; free the ticket.
 * The CAS is relaxed, because the steal has ordered the slot. */
static inline bool fi_ticket_start(fi_ticket *t)
{
    uintptr_t expected = FI_TICKET_OPEN;

    if (fi_cas_relaxed(&t->state, &expected, FI_TICKET_RUNNING))
        return true;
    /* ticket.claimed <- ticket.claim: the caller frees the ticket, and the next user of the record
     * writes plain fields over its state.  Without both, that write races with the fiber's CAS. */
    (void)fi_load_acquire(&t->state, ticket.claimed);
    return false;
}

/* [taker] Whether it is not claimed yet. */
static inline bool fi_ticket_is_open(fi_ticket *t)
{
    return fi_load_relaxed(&t->state) == FI_TICKET_OPEN;
}

/* [fiber] Claim it back.  False: another worker runs it. */
static inline bool fi_ticket_claim_back(fi_ticket *t)
{
    uintptr_t expected = FI_TICKET_OPEN;

    /* ticket.claim -> ticket.claimed: this CAS is the fiber's last access to the record */
    return fi_cas_release(&t->state, &expected, FI_TICKET_CLAIMED, ticket.claim);
}

/* [taker] The result is in the slot.  Returns the parked fiber, which the caller must ready, or
 * NULL. The ticket belongs to the fiber now. */
static inline void *fi_ticket_finish(fi_ticket *t)
{
    uintptr_t state = FI_TICKET_RUNNING;

    /* ticket.finish -> ticket.check, ticket.late: the result */
    if (fi_cas_release(&t->state, &state, FI_TICKET_DONE, ticket.finish))
        return NULL;
    /* ticket.waiter <- ticket.park: the saved context of the fiber */
    return (void *)fi_load_acquire(&t->state, ticket.waiter);
}

/* [fiber] Whether the result is in the slot. */
static inline bool fi_ticket_is_done(fi_ticket *t)
{
    return fi_load_acquire(&t->state, ticket.check) == FI_TICKET_DONE;
}

/* [fiber's worker, after its context was saved] Park the fiber.  False: the task is done. */
static inline bool fi_ticket_park(fi_ticket *t, void *fiber)
{
    uintptr_t expected = FI_TICKET_RUNNING;

    if (fi_cas_release(&t->state, &expected, (uintptr_t)fiber, ticket.park))
        return true;
    (void)fi_load_acquire(&t->state, ticket.late);
    return false;
}

#endif
