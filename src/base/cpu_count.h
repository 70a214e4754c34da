/* The number of CPUs that this process may use. */
#ifndef FI_BASE_CPU_COUNT_H
#define FI_BASE_CPU_COUNT_H

#include "base/affinity.h"

/* [any] The CPUs of the mask that get returns, or fewer if the cgroup quota below root is smaller.
 * A mask that cannot be read counts as 1 CPU.
 * Returns 1 or more, or -ENOMEM. */
int fi_cpu_count(const char *root, fi_affinity_get *get);

#endif
