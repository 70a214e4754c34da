/* The CPU quota of the cgroups of this process. */
#ifndef FI_BASE_CGROUP_H
#define FI_BASE_CGROUP_H

/* [any] Store the smallest quota of the cgroup of this process and of the cgroups above it, in
 * CPUs, rounded up; 0 when there is no quota.  A file that cannot be read sets no quota.
 * root is prepended to every path; "" reads the files of this machine.
 * Returns 0 or -ENOMEM. */
int fi_cgroup_cpu_quota(const char *root, unsigned *cpus);

#endif
