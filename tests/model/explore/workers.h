/* Idle workers, for the checks of what wakes them.  They are allocated in the arena, as the list of
 * sleepers is part of the state. */
#ifndef EXPLORE_WORKERS_H
#define EXPLORE_WORKERS_H

#include "explore/kind.h"

#include "explore/mem.h"
#include "sched/idle.h"

typedef struct workers {
    fi_idle idle;
    fi_sleeper sleeper[MAX_THREADS];
} workers;

static inline void workers_init(workers *w)
{
    static const char *const asleep[] = NUMBERED("asleep"), *const bound[] = NUMBERED("bound");
    fi_idle_init(&w->idle);
    for (int i = 0; i < program_threads(); i++) {
        x_init(&w->sleeper[i].asleep, 0, asleep[i]);
        x_init(&w->sleeper[i].n_bound, 0, bound[i]);
    }
}

#endif
