/* The plan of an experiment as the runner uses it; lab.h has the functions for experiments. */
#ifndef CLI_LAB_PLAN_H
#define CLI_LAB_PLAN_H

#include "lab.h"

/* To be freed.  NULL: out of memory. */
lab_plan *plan_new(const lab_experiment *e, const lab_options *o);

/* A hash of the files of all programs, to detect rebuilt ones. */
unsigned long plan_mark(const lab_plan *p);

#endif
