/* What the files of the topology call of each other, and tests call of them.
 *
 *     topology.c           puts it together, nearness, filch_cpu_count
 *     topology_affinity.c  the mask of the process
 *     topology_cgroup.c    the quota
 *     topology_sys.c       cores, caches and nodes from /sys
 *     topology_hwloc.c     the same by hwloc
 *     topology_text.c      small files and what is written in them
 */
#ifndef FI_BASE_TOPOLOGY_PARTS_H
#define FI_BASE_TOPOLOGY_PARTS_H

#include "base/topology.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A file's content in a buffer that is used again for the next file.  Zeroed is empty. */
typedef struct fi_text {
    char *s;
    size_t size;
} fi_text;

/* [owner] Read the file whose path is made by the format.  0, and t->s ends with a NUL; -errno, and
 * t->s is not to be looked at. */
__attribute__((format(printf, 2, 3))) int fi_text_read(fi_text *t, const char *path, ...);
void fi_text_fini(fi_text *t);

/* [any] Read a decimal number at *s and step behind it.  False when there is none or it does not
 * fit. */
bool fi_text_number(const char **s, uint64_t *value);

/* [any] Cut the next piece off *s at one of the characters of ends; NULL at the end of the text. */
char *fi_text_cut(char **s, const char *ends);

/* [any] Is word one of the words, which commas part? */
bool fi_text_lists(const char *words, const char *word);

/* [any] The next range of a list like "0-3,8,10-11"; false at its end or at anything else. */
bool fi_text_range(const char **s, int *first, int *last);

/* CPUs of the mask, ascending. */
typedef struct fi_cpu_set {
    int *os;
    unsigned n;
} fi_cpu_set;

/* Fills a mask of size bytes: 0, -EINVAL when the kernel's is larger, or another -errno. */
typedef int fi_affinity_get(size_t size, unsigned long *mask);

/* [any] 0, or -errno: the mask cannot be had, or is empty (-ENODATA). */
int fi_topology_mask_cpus(fi_affinity_get *get, fi_cpu_set *set);

/* [any] 0, or -ENOMEM.  Never an empty set: a mask that cannot be had is CPU 0. */
int fi_topology_affinity(fi_affinity_get *get, fi_cpu_set *set);
void fi_cpu_set_fini(fi_cpu_set *set);

/* [any] The mask of this process. */
fi_affinity_get fi_topology_process_mask;

/* [any] The tightest quota in CPUs, rounded up; 0: none.  0 or -ENOMEM. */
int fi_topology_quota(const char *root, unsigned *cpus);

/* [any] Fill core, llc and node of all CPUs.  1, 0 when there is nothing to learn (and nothing was
 * changed), -ENOMEM. */
int fi_topology_sys(const char *root, fi_topology *t);

/* [any] The same. */
int fi_topology_hwloc(fi_topology *t);

#ifdef FILCH_HAVE_HWLOC
struct hwloc_topology;
/* [any] Take it from a loaded topology.  1, or 0 when that does not know one of the CPUs. */
int fi_topology_from_hwloc(struct hwloc_topology *hw, fi_topology *t);
#endif

#endif
