/* fork() in a process with several threads.
 *
 * The child has one thread, the one that called fork().  A lock that another thread held stays held there for ever, and what
 * it guards may be half written.  So each lock of the process, that is one which belongs neither to a runtime nor to an
 * object of the user's, is taken before a fork and released after it, in both processes.  And each part that remembers other
 * threads forgets them in the child.
 *
 * docs/fork.md lists all locks, and why a child cannot meet those that are not here. */
#ifndef FI_BASE_AT_FORK_H
#define FI_BASE_AT_FORK_H

#include "base/lock.h"

/* In the order in which the locks are taken: the holder of one may take any that follow. */
typedef enum fi_fork_part {
    FI_FORK_CYCLES,   /* job/circle.c: a link may start a runtime */
    FI_FORK_RUNTIME,  /* sched/runtime.c: start and stop call all below */
    FI_FORK_TRACE,    /* observe/trace.c */
    FI_FORK_SPANS,    /* sched/path.c */
    FI_FORK_OVERFLOW, /* stack/watch.c */
    FI_FORK_KEYS,     /* sched/locals.c */
    FI_FORK_RECORDS,  /* sched/record_left.c */
    FI_FORK_MEMORY,   /* base/mem.c */
    FI_FORK_LATCHES,  /* base/latch.c; no lock, as all below */
    FI_FORK_LOT,      /* sched/lot.c */
    FI_FORK_WAITS,    /* sched/wait.c */
    FI_FORK_WATCHER,  /* sched/watch.c */
    FI_FORK_RANDOM,   /* base/rng.c */
    FI_FORK_PARTS
} fi_fork_part;

/* [while the library is loaded, one thread] lock: is held during a fork; NULL: there is none.
 * child: is called in the child, without locks; NULL: there is nothing to forget. */
void fi_at_fork(fi_fork_part part, fi_lock *lock, void (*child)(void));

/* [any] How many forks there were from the start of the program to this process.  A change over a call of the user's: that
 * has forked, and we are in the child. */
unsigned fi_fork_depth(void);

/* [any] The lock of a part, for tests; NULL: it has none. */
fi_lock *fi_at_fork_lock(fi_fork_part part);

#endif
