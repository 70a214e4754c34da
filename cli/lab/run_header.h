/* The header of a journal. */
#ifndef CLI_LAB_RUN_HEADER_H
#define CLI_LAB_RUN_HEADER_H

#include "lab.h"

/* A JSON object, to be freed; NULL: out of memory. */
char *run_header(const lab_experiment *e, const lab_options *o, const lab_plan *p);

#endif
