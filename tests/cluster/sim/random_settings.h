/* Random settings of the simulator, and what its report must say. */
#ifndef RANDOM_SETTINGS_H
#define RANDOM_SETTINGS_H

#include "sim/sim.h"

/* The settings that belong to a seed. */
fi_sim_settings random_settings(uint64_t seed);

/* Many thieves and one long item: more questions wait at one rank than it may hold. */
fi_sim_settings crowd_settings(uint64_t seed);

typedef struct sim_verdict {
    char error[256]; /* empty: all is well */
    fi_sim_report report;
} sim_verdict;

/* Simulate, and check the report. */
sim_verdict sim_check(const fi_sim_settings *set);

#endif
