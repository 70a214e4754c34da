/* The one line that an overflow ends with. */
#ifndef FI_STACK_REPORT_H
#define FI_STACK_REPORT_H

#include <stddef.h>

/* [any, signal handlers too] Write the line to standard error; name may be NULL. */
void fi_stack_report_overflow(const char *name, size_t size);

#endif
