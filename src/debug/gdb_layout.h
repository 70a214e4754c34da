/* What debuggers find by itself. */
#ifndef FI_DEBUG_GDB_LAYOUT_H
#define FI_DEBUG_GDB_LAYOUT_H

typedef struct fi_runtime fi_runtime;

/* [who starts or stops it] The runtime that runs; NULL: none. */
void fi_gdb_layout_show(fi_runtime *rt);

#endif
