/* What the frame does with a plan. */
#ifndef CLI_LAB_PLAN_H
#define CLI_LAB_PLAN_H

#include "lab.h"

/* To be freed.  NULL where memory is short. */
lab_plan *plan_new(const lab_experiment *e, const lab_options *o);

/* A mark for all programs of it: another one where one of them was built again. */
unsigned long plan_mark(const lab_plan *p);

#endif
