/* All experiments, each in a file of its own. */
#ifndef CLI_LAB_EXPERIMENTS_H
#define CLI_LAB_EXPERIMENTS_H

#include "lab.h"

extern const lab_experiment lab_peers, lab_jobs, lab_deques, lab_steals, lab_probabilities;

#endif
