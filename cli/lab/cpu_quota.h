/* CPU quota of the cgroup of this process. */
#ifndef CLI_LAB_CPU_QUOTA_H
#define CLI_LAB_CPU_QUOTA_H

#include <stddef.h>

/* Describe the smallest quota of the process's cgroup and its ancestors, as filch_cpu_count applies
 * it: "1.50 CPUs (150000 us in 100000 us)", "none", or "none that can be read".
 * root: prefix of /proc and of the mount points; "" except in tests. */
void cpu_quota_describe(const char *root, char *out, size_t capacity);

#endif
