/* The experiments, one file each. */
#ifndef CLI_LAB_EXPERIMENTS_H
#define CLI_LAB_EXPERIMENTS_H

#include "lab.h"

extern const lab_experiment lab_peers, lab_jobs, lab_deques, lab_steals, lab_probabilities;

#endif
