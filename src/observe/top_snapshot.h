/* Fills the page of filch top with the state of workers and fibers. */
#ifndef FI_OBSERVE_TOP_SNAPSHOT_H
#define FI_OBSERVE_TOP_SNAPSHOT_H

#include <filch/top.h>

typedef struct fi_runtime fi_runtime;

/* [any, one thread at a time, while the runtime runs] */
void fi_top_snapshot(fi_runtime *rt, filch_top *page, uint32_t part);

#endif
