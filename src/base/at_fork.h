/* fork() in a process with several threads.
 *
 * The child has one thread, the one that called fork().  A lock that another thread held stays held
 * there forever, and the data that it guards may be half written.  So each lock of the process is
 * taken before a fork and released after it, in both processes.  (Locks of a runtime and of the
 * user's objects are not locks of the process.)  State about other threads is reset in the child.
 *
 * docs/fork.md lists all locks, and says why a child cannot reach those that are not here. */
#ifndef FI_BASE_AT_FORK_H
#define FI_BASE_AT_FORK_H

#include "base/lock.h"

/* In the order in which the locks are taken: the holder of one may take any that follow. */
typedef enum fi_fork_part {
    FI_FORK_CYCLES,      /* job/cycle.c: a link may start a runtime */
    FI_FORK_RUNTIME,     /* sched/runtime.c: start and stop call all below */
    FI_FORK_TRACE,       /* observe/trace.c */
    FI_FORK_SPANS,       /* sched/span.c */
    FI_FORK_OVERFLOW,    /* stack/overflow.c */
    FI_FORK_FLS_KEYS,    /* fiber/fls.c */
    FI_FORK_PER_WORKER,  /* sched/per_worker.c */
    FI_FORK_RECORDS,     /* base/record_orphan.c */
    FI_FORK_TURNS,       /* io/nowait.c */
    FI_FORK_MEMORY,      /* base/mem.c */
    FI_FORK_MESSAGES,    /* base/message.c: any part may send a message */
    FI_FORK_LOCK_OWNERS, /* base/biased_lock.c; it and all below have no lock */
    FI_FORK_PARKING_LOT, /* wait/parking_lot.c */
    FI_FORK_WAITS,       /* wait/waitq.c */
    FI_FORK_TIMER_CALLS, /* fiber/timer_calls.c */
    FI_FORK_WATCHDOG,    /* sched/watchdog.c */
    FI_FORK_RANDOM,      /* base/rng.c */
    FI_FORK_PARTS
} fi_fork_part;

/* [while the library is loaded, one thread] lock: held during a fork; NULL: none.
 * child: called in the child, without locks; NULL: there is no state to reset. */
void fi_at_fork(fi_fork_part part, fi_lock *lock, void (*child)(void));

/* [any] The number of forks between the start of the program and this process.  If it changes
 * during a call of a user's function, that function has forked and this is the child. */
unsigned fi_fork_depth(void);

/* [any] The lock of a part, for tests; NULL: it has none. */
fi_lock *fi_at_fork_lock(fi_fork_part part);

#endif
