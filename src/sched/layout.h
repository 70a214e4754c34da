/* What debuggers find by itself. */
#ifndef FI_SCHED_LAYOUT_H
#define FI_SCHED_LAYOUT_H

typedef struct fi_runtime fi_runtime;

/* [who starts or stops it] The runtime that runs; NULL: none. */
void fi_layout_show(fi_runtime *rt);

#endif
