/* Every allocation of fi_cpu_count and fi_cpu_set_read fails once. */
#include "base/cpu_count.h"
#include "check.h"
#include "fault/inject.h"
#include "unit/base/tree.h"

#include <errno.h>
#include <filch/runtime.h>

/* Files of cgroup v1 and v2.  mountinfo is longer than the first buffer. */
static void put_cgroup_files(const tree *t)
{
    char *mounts = malloc(65536), *end = mounts;

    tree_put(t, "/proc/self/cgroup", "4:cpu:/a\n0::/a/b\n");
    for (int i = 0; i < 200; i++)
        end += sprintf(end, "%d 22 0:99 / /run/%d rw - tmpfs tmpfs rw\n", i, i);
    sprintf(end, "30 23 0:26 / /two rw - cgroup2 none rw\n"
                 "31 23 0:27 / /one rw - cgroup cgroup rw,cpu\n");
    tree_put(t, "/proc/self/mountinfo", mounts);
    free(mounts);
    tree_put(t, "/two/a/b/cpu.max", "100000 100000\n");
    tree_put(t, "/one/a/cpu.cfs_quota_us", "200000\n");
    tree_put(t, "/one/a/cpu.cfs_period_us", "100000\n");
}

static int two_cpus(size_t size, unsigned long *mask)
{
    (void)size;
    mask[0] = 3;
    return 0;
}

/* If the quota could not be read for lack of memory, the count must not ignore it. */
static int count_cpus(void *arg)
{
    const tree *t = arg;
    int n = fi_cpu_count(t->root, two_cpus);

    if (n < 0)
        return n;
    CHECK_INT(n, 1);
    return 0;
}

static void test_cgroup_files(void **state)
{
    tree t;

    (void)state;
    tree_init(&t);
    put_cgroup_files(&t);
    unsigned allocations = inject_every(count_cpus, &t);
    printf("%u allocations\n", allocations);
    CHECK(allocations >= 6);
    tree_fini(&t);
}

static int count_cpus_here(void *arg)
{
    int n = fi_cpu_count(arg, fi_affinity_get_process);

    return n < 0 ? n : 0;
}

static void test_this_machine(void **state)
{
    char root[] = "";

    (void)state;
    CHECK(inject_every(count_cpus_here, root) >= 3);
}

/* A kernel for 4096 CPUs refuses the first two sizes. */
static int large_mask(size_t size, unsigned long *mask)
{
    if (size < 512)
        return -EINVAL;
    mask[63] = 1;
    return 0;
}

static int read_mask(void *arg)
{
    fi_cpu_set set;
    int e = fi_cpu_set_read(large_mask, &set);

    (void)arg;
    if (e < 0)
        return e;
    CHECK_INT(set.n, 1);
    CHECK_INT(set.ids[0], 63 * sizeof(long) * 8);
    fi_cpu_set_fini(&set);
    return 0;
}

static void test_large_mask(void **state)
{
    (void)state;
    CHECK_INT(inject_every(read_mask, NULL), 4);
}

/* The public function cannot return -ENOMEM.  It returns 1. */
static void test_filch_cpus(void **state)
{
    (void)state;
    inject_start(1, true);
    CHECK_INT(filch_cpu_count(), 1);
    CHECK(inject_stop());
}

CHECK_MAIN(test_cgroup_files, test_this_machine, test_large_mask, test_filch_cpus)
