/* A runnable: an entry of the scheduler's queues.  It is unstarted work or a fiber that is ready
 * again. */
#ifndef FI_SCHED_RUNNABLE_H
#define FI_SCHED_RUNNABLE_H

typedef struct fi_fiber fi_fiber;
typedef struct fi_runnable fi_runnable;
typedef struct fi_stack fi_stack;

struct fi_runnable {
    fi_runnable *next; /* in the queue or list that holds it */
    /* Run the work on that fiber.  NULL: this is a parked fiber, to be resumed. */
    void (*run)(fi_runnable *self, fi_fiber *on);
    /* Waiters on this address of the parking lot wait for the work.  NULL: none. */
    const void *wait_key;
    fi_stack *stack; /* reserved for this unstarted work; NULL: any stack will do */
};

#endif
