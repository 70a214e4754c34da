/* A task that was published: a record that stands in a deque, and that exactly one party claims.
 *
 * There are two parties: the fiber that spawned the task, which comes to its sync, and whoever takes the
 * ticket out of a deque.
 *
 *     state      becomes          by              then
 *     OPEN       RUNNING          deque's side    runs the task
 *                CLAIMED          fiber           runs the task; the ticket is the deque's side's to free
 *     RUNNING    DONE             deque's side    the ticket is the fiber's to free
 *                a fiber's address  fiber, parked   as for DONE, once it has been made ready
 *
 * So the ticket has one owner at every moment, and needs no count of references.  A ticket that was
 * claimed back may stand in a deque for long after its task, its slot and its fiber are gone.
 */
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
    fi_runnable runnable; /* first: it is what stands in the deque */
    FI_ATOMIC(uintptr_t) state;
    void *slot;     /* of the task, on the task stack of its fiber; gone once it is claimed back */
    fi_fiber *root; /* its cancellation reaches the task; NULL: none */
} fi_ticket;

/* [fiber] */
static inline void fi_ticket_init(fi_ticket *t, void *slot)
{
    /* Relaxed: the record is the fiber's alone until the deque publishes it. */
    fi_store_relaxed(&t->state, FI_TICKET_OPEN);
    t->slot = slot;
}

/* [deque's side] Claim the task to run it.  False: it was claimed back, free the ticket.
 * The CAS is relaxed: the deque handed over what the slot holds. */
static inline bool fi_ticket_begin(fi_ticket *t)
{
    uintptr_t expected = FI_TICKET_OPEN;

    if (fi_cas_relaxed(&t->state, &expected, FI_TICKET_RUNNING))
        return true;
    /* ticket.claimed <- ticket.claim: the caller frees the ticket, and the next user of the record writes plain
     * fields over its state.  Without both, that write races with the fiber's CAS. */
    (void)fi_load_acquire(&t->state, ticket.claimed);
    return false;
}

/* [deque's side] Was it not claimed back yet? */
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

/* [deque's side] The result is in the slot.  The fiber that is parked here and must be made ready, or
 * NULL.  The ticket is not ours any more. */
static inline void *fi_ticket_done(fi_ticket *t)
{
    uintptr_t state = FI_TICKET_RUNNING;

    /* ticket.done -> ticket.check, ticket.late: the result before the word */
    if (fi_cas_release(&t->state, &state, FI_TICKET_DONE, ticket.done))
        return NULL;
    /* ticket.waiter <- ticket.park: else the fiber would be resumed from an older point */
    return (void *)fi_load_acquire(&t->state, ticket.waiter);
}

/* [fiber] Is it done? */
static inline bool fi_ticket_is_done(fi_ticket *t)
{
    return fi_load_acquire(&t->state, ticket.check) == FI_TICKET_DONE;
}

/* [fiber's worker, when its context is saved] Park the fiber here.  False: it is done. */
static inline bool fi_ticket_park(fi_ticket *t, void *fiber)
{
    uintptr_t expected = FI_TICKET_RUNNING;

    if (fi_cas_release(&t->state, &expected, (uintptr_t)fiber, ticket.park))
        return true;
    (void)fi_load_acquire(&t->state, ticket.late);
    return false;
}

#endif
