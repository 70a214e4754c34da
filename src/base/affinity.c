/* Reads an affinity mask of any size.
 *
 * The kernel refuses a buffer that is smaller than its own mask.  So the buffer starts at the size
 * of glibc's cpu_set_t and doubles until the kernel accepts it.
 */
#define _GNU_SOURCE
#include "base/affinity.h"
#include "base/mem.h"

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdbool.h>
#include <unistd.h>

#define WORD_BITS (sizeof(unsigned long) * CHAR_BIT)
#define MIN_SIZE  ((size_t)1024 / CHAR_BIT)
#define MAX_SIZE  ((size_t)1024 * 1024 / CHAR_BIT) /* Linux cannot be built for that many CPUs */

int fi_affinity_get_process(size_t size, unsigned long *mask)
{
    if (sched_getaffinity(getpid(), size, (cpu_set_t *)mask) == 0)
        return 0;
    if (errno != EINVAL && sched_getaffinity(0, size, (cpu_set_t *)mask) == 0)
        return 0; /* the main thread has exited before the other threads */
    return -errno;
}

static bool mask_has(const unsigned long *mask, size_t cpu)
{
    return (mask[cpu / WORD_BITS] >> cpu % WORD_BITS & 1) != 0;
}

static unsigned mask_count(const unsigned long *mask, size_t size)
{
    unsigned n = 0;

    for (size_t i = 0; i < size / sizeof *mask; i++)
        n += (unsigned)__builtin_popcountl(mask[i]);
    return n;
}

static int set_from_mask(const unsigned long *mask, size_t size, fi_cpu_set *set)
{
    unsigned n = mask_count(mask, size);

    if (n == 0)
        return -ENODATA;
    set->ids = FI_NEW_ARRAY(int, n);
    if (set->ids == NULL)
        return -ENOMEM;
    for (size_t cpu = 0; cpu < size * CHAR_BIT; cpu++)
        if (mask_has(mask, cpu))
            set->ids[set->n++] = (int)cpu;
    return 0;
}

/* [any] One attempt with a mask of size bytes. */
static int read_with_size(fi_affinity_get *get, size_t size, fi_cpu_set *set)
{
    unsigned long *mask = fi_mem_alloc(size, FI_CACHE_LINE);

    if (mask == NULL)
        return -ENOMEM;
    int e = get(size, mask);
    if (e == 0)
        e = set_from_mask(mask, size, set);
    fi_mem_free(mask, size, FI_CACHE_LINE);
    return e;
}

int fi_cpu_set_read(fi_affinity_get *get, fi_cpu_set *set)
{
    int e = -EINVAL;

    *set = (fi_cpu_set){0};
    for (size_t size = MIN_SIZE; e == -EINVAL && size <= MAX_SIZE; size *= 2)
        e = read_with_size(get, size, set);
    return e;
}

void fi_cpu_set_fini(fi_cpu_set *set)
{
    FI_DELETE_ARRAY(int, set->ids, set->n);
    *set = (fi_cpu_set){0};
}
