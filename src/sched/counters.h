/* What a worker counts.  Written by the worker alone, read by anybody; what its deque counts is in deque/deque.h. */
#ifndef FI_SCHED_COUNTERS_H
#define FI_SCHED_COUNTERS_H

#include "base/counter.h"

typedef struct fi_counters {
    fi_counter spawned;
    fi_counter published;
    fi_counter claimed_back;
    fi_counter taken; /* published tasks that somebody else ran */
    fi_counter steals_single;
    fi_counter steals_multiple;
    fi_counter steals_failed;
    fi_counter stolen;
    fi_counter deque_steals_single; /* the same of deques alone */
    fi_counter deque_steals_single_failed;
    fi_counter deque_steals_multiple;
    fi_counter deque_steals_multiple_failed;
    fi_counter deque_stolen;
    fi_counter parks;
    fi_counter wakes;
    fi_counter sleeps;
    fi_counter searches;
    fi_counter jobs_given; /* and pieces of groups' work */
    fi_counter jobs_ended;
    fi_counter starts_given; /* fibers */
    fi_counter starts_ended;
    fi_counter fibers_created;
    fi_counter fibers_reused;
} fi_counters;

#endif
