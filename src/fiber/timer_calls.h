/* The calls of timer functions that have not returned, for filch_timer_stop_wait.
 *
 * A timer may be freed while its function runs, and it may fire again before the function has
 * returned.  So the calls are not listed in the timer, but here, under the id of the timer.  A call
 * is listed from the moment when its timer fires. */
#ifndef FI_FIBER_TIMER_CALLS_H
#define FI_FIBER_TIMER_CALLS_H

#include "sched/fiber.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct fi_timer_call fi_timer_call;
struct fi_timer_call {
    fi_runnable runnable; /* first: the queue entry */
    void *arg;
    union {
        void (*work)(void *arg); /* until it begins */
        const fi_fiber *fiber;   /* that runs it, under the lock */
    };
    fi_timer_call *next;
    uint64_t timer; /* id; 0: not listed yet */
};

/* [any] An id that no other timer has. */
uint64_t fi_timer_id_new(void);

/* [worker that fires the timer] List the call. */
void fi_timer_calls_add(fi_timer_call *c, uint64_t timer);

/* [fiber] It runs the call from now on. */
void fi_timer_calls_begin(fi_timer_call *c, const fi_fiber *f);

/* [fiber] The function has returned: remove the call from the list. */
void fi_timer_calls_remove(fi_timer_call *c);

/* [any] Does this fiber run a call of the timer? */
bool fi_timer_calls_contain(uint64_t timer, const fi_fiber *f);

/* [any] Wait until no call of the timer is listed.  object: for messages. */
void fi_timer_calls_wait(uint64_t timer, const void *object);

#endif
