/* The CPU quota that filch info prints, read from trees of files that the test writes. */
#include "check.h"
#include "unit/base/tree.h"

#include "lab/cpu_quota.h"

#define V2              "30 23 0:26 / /sys/fs/cgroup rw shared:4 - cgroup2 cgroup2 rw\n"
#define V1              "31 23 0:27 / /sys/fs/cgroup/cpu rw shared:5 - cgroup cgroup rw,cpu,cpuacct\n"
#define V2_IN_CONTAINER "30 23 0:26 /box /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"

typedef struct machine {
    const char *cgroup, *mountinfo;
    const char *files[9]; /* pairs of path and content */
} machine;

static void quota_is(const char *expected, const machine *m)
{
    tree t;
    char text[128];

    tree_init(&t);
    tree_put(&t, "/proc/self/cgroup", m->cgroup);
    tree_put(&t, "/proc/self/mountinfo", m->mountinfo);
    for (int i = 0; m->files[i] != NULL; i += 2)
        tree_put(&t, m->files[i], m->files[i + 1]);
    cpu_quota_describe(t.root, text, sizeof text);
    tree_fini(&t);
    CHECK_STR(text, expected);
}

#define QUOTA_IS(expected, ...) quota_is(expected, &(const machine){__VA_ARGS__})

static void own_cgroup(void **state)
{
    (void)state;
    QUOTA_IS("1.50 CPUs (150000 us in 100000 us)", "0::/a/b\n", V2,
             {"/sys/fs/cgroup/a/b/cpu.max", "150000 100000\n"});
    QUOTA_IS("0.50 CPUs (50000 us in 100000 us)", "3:cpu,cpuacct:/a\n0::/\n", V1 V2,
             {"/sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "50000\n",
              "/sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000\n"});
    QUOTA_IS("2.00 CPUs (200000 us in 100000 us)", "0::/box/a\n", V2_IN_CONTAINER,
             {"/sys/fs/cgroup/a/cpu.max", "200000 100000\n"});
}

/* The smallest limit of all ancestors, with periods of different length. */
static void ancestors(void **state)
{
    (void)state;
    QUOTA_IS("0.25 CPUs (5000 us in 20000 us)", "0::/a/b\n", V2,
             {"/sys/fs/cgroup/a/b/cpu.max", "50000 100000\n", "/sys/fs/cgroup/a/cpu.max",
              "5000 20000\n", "/sys/fs/cgroup/cpu.max", "max 100000\n"});
    QUOTA_IS("1.00 CPUs (100000 us in 100000 us)", "0::/elsewhere\n", V2_IN_CONTAINER,
             {"/sys/fs/cgroup/cpu.max", "100000 100000\n"});
}

static void no_limit(void **state)
{
    (void)state;
    QUOTA_IS("none", "0::/a\n", V2, {"/sys/fs/cgroup/a/cpu.max", "max 100000\n"});
    QUOTA_IS("none", "3:cpu:/a\n", V1,
             {"/sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "-1\n",
              "/sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000\n"});
    QUOTA_IS("none that can be read", "0::/a\n", V2, {NULL});
    /* The limit of a sibling does not apply. */
    QUOTA_IS(
        "none", "0::/a\n", V2,
        {"/sys/fs/cgroup/a/cpu.max", "max 100000\n", "/sys/fs/cgroup/b/cpu.max", "10000 100000\n"});
}

CHECK_MAIN(own_cgroup, ancestors, no_limit)
