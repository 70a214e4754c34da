/* The CPUs on which the kernel may run this process. */
#ifndef FI_BASE_AFFINITY_H
#define FI_BASE_AFFINITY_H

#include <stddef.h>

/* The CPUs of an affinity mask, in ascending order. */
typedef struct fi_cpu_set {
    int *ids; /* the kernel's numbers */
    unsigned n;
} fi_cpu_set;

/* Fill a mask of size bytes.  0, -EINVAL when the kernel's mask is larger, or another -errno. */
typedef int fi_affinity_get(size_t size, unsigned long *mask);

/* [any] The mask of the main thread.  The calling thread may be a worker that is pinned to one
 * CPU. */
fi_affinity_get fi_affinity_get_process;

/* [any] Read the mask that get returns.  0; -ENOMEM; -ENODATA when the mask is empty; or the error
 * of get.  After an error the set needs no fini. */
int fi_cpu_set_read(fi_affinity_get *get, fi_cpu_set *set);

/* [any] */
void fi_cpu_set_fini(fi_cpu_set *set);

#endif
