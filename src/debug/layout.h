/* The table of structure offsets for debuggers and the command filch. */
#ifndef FI_DEBUG_LAYOUT_H
#define FI_DEBUG_LAYOUT_H

typedef struct fi_runtime fi_runtime;

/* [thread that starts or stops the runtime] Set the running runtime; NULL: none. */
void fi_layout_set_runtime(fi_runtime *rt);

#endif
