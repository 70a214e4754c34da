/* The list of all experiments. */
#include "experiments.h"

/* In the order of the report. */
const lab_experiment *const lab_experiments[] = {&lab_peers,  &lab_jobs,          &lab_deques,
                                                 &lab_steals, &lab_probabilities, NULL};
