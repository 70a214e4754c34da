/* The first line of a log. */
#ifndef CLI_LAB_HEAD_H
#define CLI_LAB_HEAD_H

#include "lab.h"

/* An object of JSON, to be freed; NULL where memory is short. */
char *head_of(const lab_experiment *e, const lab_options *o, const lab_plan *p);

#endif
