/* The number of CPUs to use: the affinity mask or the cgroup quota, whichever is smaller. */
#include "base/cpu_count.h"
#include "base/mem.h"
#include "check.h"
#include "tree.h"

static int eight_cpus(size_t size, unsigned long *mask)
{
    (void)size;
    mask[0] = 0xff;
    return 0;
}

static int count_with_quota(const tree *t, const char *cpu_max)
{
    tree_put(t, "/c/a/cpu.max", cpu_max);
    int n = fi_cpu_count(t->root, eight_cpus);
    CHECK_INT(fi_mem_live().blocks, 0);
    return n;
}

static void test_quota(void **state)
{
    tree t;

    (void)state;
    tree_init(&t);
    CHECK_INT(fi_cpu_count(t.root, eight_cpus), 8);
    tree_put(&t, "/proc/self/cgroup", "0::/a\n");
    tree_put(&t, "/proc/self/mountinfo", "30 23 0:26 / /c rw - cgroup2 none rw\n");
    CHECK_INT(count_with_quota(&t, "250000 100000\n"), 3);
    CHECK_INT(count_with_quota(&t, "2500000 100000\n"), 8);
    CHECK_INT(count_with_quota(&t, "1000 100000\n"), 1);
    CHECK_INT(count_with_quota(&t, "max 100000\n"), 8);
    tree_fini(&t);
}

CHECK_MAIN(test_quota)
