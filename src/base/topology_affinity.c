/* The CPUs of the affinity mask, however many the kernel was built for. */
#define _GNU_SOURCE
#include "base/mem.h"
#include "base/topology_parts.h"

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

#define WORD_BITS  (sizeof(unsigned long) * CHAR_BIT)
#define FIRST_SIZE ((size_t)1024 / CHAR_BIT)        /* glibc's cpu_set_t */
#define LARGEST    ((size_t)1024 * 1024 / CHAR_BIT) /* far more than Linux can be built for */

/* [any] The mask of the main thread, not of the caller: a worker that is pinned to one CPU must not
 * take that for all there is. */
int fi_topology_process_mask(size_t size, unsigned long *mask)
{
    if (sched_getaffinity(getpid(), size, (cpu_set_t *)mask) == 0)
        return 0;
    if (errno != EINVAL && sched_getaffinity(0, size, (cpu_set_t *)mask) == 0)
        return 0; /* the main thread has ended before the others */
    return -errno;
}

static bool has(const unsigned long *mask, size_t cpu)
{
    return (mask[cpu / WORD_BITS] >> cpu % WORD_BITS & 1) != 0;
}

static unsigned count(const unsigned long *mask, size_t size)
{
    unsigned n = 0;

    for (size_t i = 0; i < size / sizeof *mask; i++)
        n += (unsigned)__builtin_popcountl(mask[i]);
    return n;
}

static int make_set(const unsigned long *mask, size_t size, fi_cpu_set *set)
{
    unsigned n = count(mask, size);

    if (n == 0)
        return -ENODATA;
    set->os = FI_NEW_ARRAY(int, n);
    if (set->os == NULL)
        return -ENOMEM;
    for (size_t cpu = 0; cpu < size * CHAR_BIT; cpu++)
        if (has(mask, cpu))
            set->os[set->n++] = (int)cpu;
    return 0;
}

/* [any] One try with a mask of this size. */
static int try_size(fi_affinity_get *get, size_t size, fi_cpu_set *set)
{
    unsigned long *mask = fi_mem_alloc(size, FI_CACHE_LINE);

    if (mask == NULL)
        return -ENOMEM;
    int e = get(size, mask);
    if (e == 0)
        e = make_set(mask, size, set);
    fi_mem_free(mask, size, FI_CACHE_LINE);
    return e;
}

static int only_cpu_0(fi_cpu_set *set)
{
    set->os = FI_NEW_ARRAY(int, 1);
    if (set->os == NULL)
        return -ENOMEM;
    set->n = 1;
    return 0;
}

int fi_topology_mask_cpus(fi_affinity_get *get, fi_cpu_set *set)
{
    int e = -EINVAL;

    *set = (fi_cpu_set){0};
    for (size_t size = FIRST_SIZE; e == -EINVAL && size <= LARGEST; size *= 2)
        e = try_size(get, size, set);
    return e;
}

int fi_topology_affinity(fi_affinity_get *get, fi_cpu_set *set)
{
    int e = fi_topology_mask_cpus(get, set);

    if (e < 0 && e != -ENOMEM)
        e = only_cpu_0(set);
    return e;
}

void fi_cpu_set_fini(fi_cpu_set *set)
{
    FI_DELETE_ARRAY(int, set->os, set->n);
    *set = (fi_cpu_set){0};
}
