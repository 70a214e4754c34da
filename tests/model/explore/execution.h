/* One execution: its threads and its choices.
 *
 *   search.c      all executions, one list of choices after the other
 *   execution.c   one execution: which threads may run, and how it ends
 *   thread.c      what a running thread asks: to yield, to join, to fail
 *   futex.c       sleeping on a word
 *   states.c      the set of states that were seen
 *   snapshot.c    return to an earlier state
 */
#ifndef EXPLORE_EXECUTION_H
#define EXPLORE_EXECUTION_H

#include "explore/machine.h"

#include "ctx/ctx.h"

enum { MAX_CHOICES = 4096, MAX_OPERATIONS = 600 };
enum { STACK_SLACK = 512 }; /* more than a switch needs below the frame of its caller */

typedef struct choice {
    uint8_t options, picked;
} choice;

typedef struct thread {
    fi_ctx ctx;
    unsigned char *stack_low; /* the lowest byte in use */
    uint64_t history;         /* a hash of all that it has read */
    const void *asleep_on;    /* futex word */
    int64_t until;            /* its deadline, which may come at any moment */
    bool overslept;           /* one has come */
    const void *awaits;       /* a word that must be 0 before it goes on */
    bool goes_on;             /* others need not run after its next access */
    bool ended, joining, needs_drained, yielding, spinning;
    bool stale;   /* in its last iteration it read a value that was not the newest */
    uint64_t saw; /* progress at the start of its last iteration */
} thread;

typedef enum ending { RUNNING, DONE, SEEN, FAILED, TOO_LONG, RESTART } ending;

typedef struct execution {
    const check *check;
    thread thread[MAX_THREADS];
    fi_ctx home; /* of the search */
    int running, last;
    bool setup;
    ending ending;
    verdict verdict;
    char reason[sizeof((outcome *)0)->reason];
    choice choice[MAX_CHOICES];
    int choices, next, replayed; /* number of choices; the next to make; those that were given */
    int operations;
    uint64_t total_operations;
    uint64_t progress; /* steps of threads that do not spin */
} execution;

extern execution s;

static inline thread *running_thread(void)
{
    return &s.thread[s.running];
}

/* execution.c */
void execution_start(void);
void execution_run(bool prune); /* prune: end it at a state that was seen before */
void execution_keep(void);
void execution_copy(void (*copy)(void *p, size_t n));

/* thread.c */
void go_home(void); /* let the search choose the next thread */

/* states.c */
void states_reset(void);
bool states_add(uint64_t h); /* false: it was there */
uint64_t states_count(void);
void states_keep(void);

/* snapshot.c */
void snapshot_reset(void);
void snapshot_take(void);
bool snapshot_restore(int chosen); /* the last one before that choice; false: there is none */

#endif
