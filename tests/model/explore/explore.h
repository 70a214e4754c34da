/* An exhaustive explorer of small concurrent programs under weak memory.
 *
 * A check is a set-up and a few threads.  The explorer runs it again and again, each thread on a
 * context of its own, until every choice of the next thread and of the store that a load reads was
 * made.  The source under check is the source that ships: its atomic operations arrive here through
 * atomic.h.
 *
 * Three machines (see machine.c):
 *   rc11  C11 as repaired by Lahav et al. (2017): a load may read an old store, but no store that
 *         is yet to come
 *   imm   rc11, and a load of an item may happen late, past independent operations, as on ARM
 *   tso   x86: a store buffer per thread
 */
#ifndef EXPLORE_EXPLORE_H
#define EXPLORE_EXPLORE_H

#include "explore/atomic.h"

#include <stdio.h>

enum { MAX_THREADS = 5, MAX_WEAKENINGS = 4 };

typedef enum mode { MODE_RC11, MODE_IMM, MODE_TSO, MODES } mode;

/* What an execution shows.  WRONG is for faults that only one check has. */
typedef enum verdict { OK, LOST, TWICE, RACE, FREED, HANG, WRONG, LIMIT } verdict;

typedef struct weakening {
    const char *label; /* of the operation; "items" for all slots of a queue */
    order to;
} weakening;

typedef struct check {
    mode mode;
    int threads;
    bool exchangeable; /* threads 1 and up, when in the same place, are alike: count them once */
    void (*setup)(void);
    void (*run)(int thread);
    uint64_t (*summary)(void); /* the state outside the machine, as a hash; NULL: there is none */
    /* Called when no thread can continue and some have not ended.  Returns NULL if they may wait
     * for ever, else what is wrong.  Without at_rest that is always a hang. */
    const char *(*at_rest)(void);
    void (*before_unlock)(int thread); /* called by x_unlock, unless NULL */
    /* No deadline comes, except one for each thread in the mask `late`.  at_rest is also called
     * before that one comes. */
    bool time_stands;
    unsigned late;
    const char *(*thread_name)(int thread);
    const char *(*value_name)(uint64_t value); /* NULL, or returns it, for a plain number */
    bool races;                                /* look for data races on x_data_… */
    const char *(*data_name)(int datum);       /* or NULL: it is what an item points to */
    weakening weaken[MAX_WEAKENINGS];
} check;

typedef struct outcome {
    verdict verdict;
    bool complete; /* every execution was explored to its end */
    char reason[200];
    uint64_t states, executions, operations;
    double seconds;
} outcome;

/* Explore until a failure, or to the end. */
outcome explore(const check *c);

const char *order_name(order o);
const char *mode_name(mode m);
const char *verdict_name(verdict v);

/* Run the failing execution of the last explore again and print what each thread does. */
void explore_print_trace(const check *c, FILE *to);

/* For the threads of a check. */
void x_fail(verdict v, const char *format, ...) __attribute__((noreturn, format(printf, 2, 3)));
void x_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
void x_forget(uint64_t position); /* nothing read so far matters any more, but for `position` */
void x_join(void);                /* wait until all other threads have ended */
void *x_settle(void *item);       /* the item that a late load really read */
void x_data_write(int datum);     /* plain accesses to what an item points to */
void x_data_read(int datum);

/* For source that is compiled with them in place of fi_lock_lock and fi_lock_unlock.  lock.c */
struct fi_lock;
void x_lock(struct fi_lock *l);
void x_unlock(struct fi_lock *l);

/* Exclude static data from what an execution changes: it outlives the execution. */
void x_keep(void *p, size_t n);

/* For at_rest. */
uint64_t x_peek(const void *p);      /* the newest value of an atomic */
const void *x_asleep_on(int thread); /* the futex word or lock, or NULL */
int64_t x_asleep_until(int thread);  /* of one that sleeps on a futex word */

#endif
