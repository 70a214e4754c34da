/* Messages of the cluster library.  They go to the message handler of the program. */
#ifndef FI_CLUSTER_REPORT_H
#define FI_CLUSTER_REPORT_H

#include <filch/message.h>

/* [any] One line.  With more than one rank, it begins with rank, host and process. */
void fi_report(filch_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* [start] Set the rank that messages name.  Before this call, they name none. */
void fi_report_init(unsigned rank, unsigned ranks);

#endif
