/* Messages of the cluster library.  They go to the message handler of the program. */
#ifndef FI_CLUSTER_REPORT_H
#define FI_CLUSTER_REPORT_H

#include <filch/message.h>

/* [any] One line.  With more than one rank, it begins with rank, host and process. */
void fi_report(filch_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* [start] Who reports.  Before this call, messages do not name a rank. */
void fi_report_init(unsigned rank, unsigned ranks);

/* "rank 3 (host, pid 123)", with the host of this process. */
enum { FI_WHO_SIZE = 128 };
void fi_report_who(char text[FI_WHO_SIZE], unsigned rank, int pid);

#endif
