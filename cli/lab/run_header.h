/* The first line of a journal. */
#ifndef CLI_LAB_RUN_HEADER_H
#define CLI_LAB_RUN_HEADER_H

#include "lab.h"

/* An object of JSON, to be freed; NULL where memory is short. */
char *run_header(const lab_experiment *e, const lab_options *o, const lab_plan *p);

#endif
