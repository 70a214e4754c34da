/* Messages for faults in a fiber that end the program. */
#ifndef FI_STACK_REPORT_H
#define FI_STACK_REPORT_H

#include <stddef.h>

/* [any, also signal handlers] Write the message to standard error.  name may be NULL. */
void fi_stack_report_overflow(const char *name, size_t size);

/* [signal handlers] The same for a fiber whose code was unmapped. */
void fi_stack_report_unmapped_code(const char *name);

#endif
