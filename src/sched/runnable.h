/* The one thing that the scheduler knows of what it runs: it can be taken from a queue. */
#ifndef FI_SCHED_RUNNABLE_H
#define FI_SCHED_RUNNABLE_H

typedef struct fi_fiber fi_fiber;
typedef struct fi_runnable fi_runnable;

struct fi_runnable {
    fi_runnable *next; /* in the list of whoever has it */
    /* Do the work, on that fiber.  NULL: this is a fiber that has run before, to be resumed. */
    void (*run)(fi_runnable *self, fi_fiber *on);
    const void *
        of; /* what it is a part of: who waits under this address waits for it too; NULL: nothing */
};

#endif
