/* Memory runs out anywhere while the machine is being read. */
#include "base/topology_parts.h"
#include "check.h"
#include "fault/inject.h"
#include "unit/base/tree.h"

#include <errno.h>
#include <filch/machine.h>

static const int cpus[] = {0, 1};

/* A machine on which every kind of file is read, one of them longer than the first buffer. */
static void make_machine(const tree *t)
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
    tree_put(t, "/sys/devices/system/cpu/cpu0/topology/core_cpus_list", "0-1\n");
    tree_put(t, "/sys/devices/system/cpu/cpu0/cache/index0/type", "Data\n");
    tree_put(t, "/sys/devices/system/cpu/cpu0/cache/index0/level", "1\n");
    tree_put(t, "/sys/devices/system/cpu/cpu0/cache/index0/shared_cpu_list", "0-1\n");
    tree_put(t, "/sys/devices/system/node/online", "3\n");
    tree_put(t, "/sys/devices/system/node/node3/cpulist", "0-1\n");
}

static int read_machine(void *arg)
{
    const tree *t = arg;
    fi_topology topology;
    int e = fi_topology_read_for(t->root, cpus, 2, &topology);

    if (e < 0)
        return e;
    /* All or nothing: a quota that could not be read for want of memory is no "no quota". */
    CHECK_INT(topology.quota, 1);
    CHECK_INT(topology.usable, 1);
    CHECK_INT(topology.cpus[1].core, 0);
    CHECK_INT(topology.cpus[1].node, 3);
    CHECK_INT(topology.kind, FI_TOPOLOGY_SYS);
    fi_topology_fini(&topology);
    return 0;
}

static int count_usable(void *arg)
{
    const tree *t = arg;
    int n = fi_topology_usable(t->root);

    if (n < 0)
        return n;
    CHECK_INT(n, 1);
    return 0;
}

static void test_made_up_machine(void **state)
{
    tree t;

    (void)state;
    tree_init(&t);
    make_machine(&t);
    unsigned allocations = inject_every(read_machine, &t);
    printf("%u allocations\n", allocations);
    CHECK(allocations >= 6);
    CHECK(inject_every(count_usable, &t) >= 5);
    tree_fini(&t);
}

static int read_this_machine(void *arg)
{
    fi_topology topology;
    int e = fi_topology_read(arg, &topology);

    if (e == 0)
        fi_topology_fini(&topology);
    return e;
}

static void test_this_machine(void **state)
{
    char here[] = "";

    (void)state;
    CHECK(inject_every(read_this_machine, here) >= 3);
}

/* A machine for 4096 CPUs: three masks are too small. */
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
    int e = fi_topology_affinity(large_mask, &set);

    (void)arg;
    if (e < 0)
        return e;
    CHECK_INT(set.n, 1);
    CHECK_INT(set.os[0], 63 * sizeof(long) * 8);
    fi_cpu_set_fini(&set);
    return 0;
}

static void test_large_mask(void **state)
{
    (void)state;
    CHECK_INT(inject_every(read_mask, NULL), 4);
}

/* The public call has no way to say -ENOMEM: it says 1. */
static void test_filch_cpus(void **state)
{
    (void)state;
    inject_start(1, true);
    CHECK_INT(filch_cpu_count(), 1);
    CHECK(inject_stop());
}

CHECK_MAIN(test_made_up_machine, test_this_machine, test_large_mask, test_filch_cpus)
