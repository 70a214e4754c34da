/* The CPU quota of cgroups, read from trees of files that the test writes. */
#include "base/cgroup.h"
#include "base/mem.h"
#include "check.h"
#include "tree.h"

#include <limits.h>

#define V2_AT(root, point) "30 23 0:26 " root " " point " rw,nosuid shared:4 - cgroup2 cgroup2 rw\n"
#define V1_AT(root, point)                                                                         \
    "31 23 0:27 " root " " point " rw,nosuid shared:5 - cgroup cgroup rw,cpu,cpuacct\n"
#define OTHERS                                                                                     \
    "22 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw\n"                                               \
    "33 23 0:28 / /sys/fs/cgroup/memory rw shared:6 - cgroup cgroup rw,memory\n"                   \
    "34 23 0:29 / /sys/fs/cgroup/cpuset rw shared:7 - cgroup cgroup rw,cpuset\n"

/* The files of one machine: two of /proc/self, then pairs of path and content up to NULL. */
typedef struct machine {
    const char *cgroup, *mountinfo;
    const char *files[24];
} machine;

static unsigned quota_of(const machine *m)
{
    tree t;
    unsigned quota = UINT_MAX;

    tree_init(&t);
    if (m->cgroup != NULL)
        tree_put(&t, "/proc/self/cgroup", m->cgroup);
    if (m->mountinfo != NULL)
        tree_put(&t, "/proc/self/mountinfo", m->mountinfo);
    for (int i = 0; m->files[i] != NULL; i += 2)
        tree_put(&t, m->files[i], m->files[i + 1]);
    CHECK_INT(fi_cgroup_cpu_quota(t.root, &quota), 0);
    tree_fini(&t);
    CHECK_INT(fi_mem_live().blocks, 0);
    return quota;
}

#define QUOTA(...) quota_of(&(const machine){__VA_ARGS__})

static void test_no_files(void **state)
{
    unsigned quota = 7;

    (void)state;
    CHECK_INT(QUOTA(NULL, NULL, {NULL}), 0);
    CHECK_INT(QUOTA("", "", {NULL}), 0);
    CHECK_INT(QUOTA("0::/a\n", OTHERS, {NULL}), 0);
    CHECK_INT(QUOTA("0::/a\n", V2_AT("/", "/sys/fs/cgroup"), {NULL}), 0);
    CHECK_INT(fi_cgroup_cpu_quota("/nonexistent/place", &quota), 0);
    CHECK_INT(quota, 0);
}

static unsigned v2(const char *cpu_max)
{
    return QUOTA("0::/a/b\n", OTHERS V2_AT("/", "/sys/fs/cgroup"),
                 {"/sys/fs/cgroup/a/b/cpu.max", cpu_max});
}

static void test_v2_values(void **state)
{
    (void)state;
    CHECK_INT(v2("max 100000\n"), 0);
    CHECK_INT(v2("200000 100000\n"), 2);
    CHECK_INT(v2("200000 100000"), 2);
    CHECK_INT(v2("100000 100000\n"), 1);
    CHECK_INT(v2("50000 100000\n"), 1);
    CHECK_INT(v2("1000 1000000\n"), 1);
    CHECK_INT(v2("150000 100000\n"), 2);
    CHECK_INT(v2("100001 100000\n"), 2);
    CHECK_INT(v2("200001 100000\n"), 3);
    CHECK_INT(v2("6400000 100000\n"), 64);
    CHECK_INT(v2("18446744073709551615 18446744073709551615\n"), 1);
    CHECK_INT(v2("18446744073709551615 1\n"), UINT_MAX);
    CHECK_INT(v2("4294967297 1\n"), UINT_MAX); /* 2^32 + 1 */
}

static void test_v2_garbage(void **state)
{
    static const char *const garbage[] = {
        "",
        "\n",
        "max",
        "100000",
        "100000\n",
        "100000 ",
        "100000  100000\n",
        " 100000 100000\n",
        "-1 100000\n",
        "100000 -1\n",
        "100000 0\n",
        "0 100000\n",
        "100000 100000x\n",
        "100000 100000 100000\n",
        "0x10 100\n",
        "1e5 100000\n",
        "18446744073709551616 100000\n", /* 2^64 */
        "99999999999999999999999999999999999999 100000\n",
        "100000 99999999999999999999999999999999999999\n",
        "\xff\xfe\x80",
    };

    (void)state;
    for (size_t i = 0; i < sizeof garbage / sizeof garbage[0]; i++)
        CHECK_INT(v2(garbage[i]), 0);
}

static void test_v2_ancestors(void **state)
{
    (void)state;
#define AT V2_AT("/", "/sys/fs/cgroup")
    CHECK_INT(
        QUOTA("0::/a/b/c\n", AT,
              {"/sys/fs/cgroup/a/b/c/cpu.max", "800000 100000\n", "/sys/fs/cgroup/a/b/cpu.max",
               "300000 100000\n", "/sys/fs/cgroup/a/cpu.max", "400000 100000\n"}),
        3);
    CHECK_INT(QUOTA("0::/a/b/c\n", AT,
                    {"/sys/fs/cgroup/a/b/c/cpu.max", "max 100000\n", "/sys/fs/cgroup/a/cpu.max",
                     "200000 100000\n"}),
              2);
    CHECK_INT(QUOTA("0::/a/b/c\n", AT, {"/sys/fs/cgroup/cpu.max", "500000 100000\n"}), 5);
    /* Another period: 4 CPUs are less than 5 though the number is larger. */
    CHECK_INT(QUOTA("0::/a/b\n", AT,
                    {"/sys/fs/cgroup/a/b/cpu.max", "500000 100000\n", "/sys/fs/cgroup/a/cpu.max",
                     "4000000 1000000\n"}),
              4);
    /* Quotas of a sibling, a child, or a name with the same prefix do not count. */
    CHECK_INT(
        QUOTA("0::/a/b\n", AT,
              {"/sys/fs/cgroup/a/c/cpu.max", "100000 100000\n", "/sys/fs/cgroup/a/b/c/cpu.max",
               "100000 100000\n", "/sys/fs/cgroup/a/bb/cpu.max", "100000 100000\n",
               "/sys/fs/cpu.max", "100000 100000\n"}),
        0);
    /* Garbage in the child does not hide the parent. */
    CHECK_INT(QUOTA("0::/a/b\n", AT,
                    {"/sys/fs/cgroup/a/b/cpu.max", "garbage\n", "/sys/fs/cgroup/a/cpu.max",
                     "200000 100000\n"}),
              2);
#undef AT
}

static unsigned v1(const char *quota, const char *period)
{
    return QUOTA("4:cpu,cpuacct:/a\n3:memory:/m\n", OTHERS V1_AT("/", "/sys/fs/cgroup/cpu,cpuacct"),
                 {"/sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us", quota,
                  "/sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_period_us", period});
}

static void test_v1_values(void **state)
{
    (void)state;
    CHECK_INT(v1("-1\n", "100000\n"), 0);
    CHECK_INT(v1("200000\n", "100000\n"), 2);
    CHECK_INT(v1("50000\n", "100000\n"), 1);
    CHECK_INT(v1("150000\n", "100000\n"), 2);
    CHECK_INT(v1("0\n", "100000\n"), 0);
    CHECK_INT(v1("200000\n", "0\n"), 0);
    CHECK_INT(v1("200000\n", ""), 0);
    CHECK_INT(v1("", "100000\n"), 0);
    CHECK_INT(v1("2x\n", "1\n"), 0);
    CHECK_INT(v1("2\n", "1x\n"), 0);
    CHECK_INT(v1("99999999999999999999999999\n", "100000\n"), 0);
    CHECK_INT(v1("9223372036854775807\n", "1\n"), UINT_MAX);
}

static void test_v1_ancestors(void **state)
{
    (void)state;
#define CPU "/sys/fs/cgroup/cpu"
    CHECK_INT(
        QUOTA("4:cpu:/a/b\n", V1_AT("/", CPU),
              {CPU "/a/b/cpu.cfs_quota_us", "800000\n", CPU "/a/b/cpu.cfs_period_us", "100000\n",
               CPU "/a/cpu.cfs_quota_us", "300000\n", CPU "/a/cpu.cfs_period_us", "100000\n",
               CPU "/cpu.cfs_quota_us", "-1\n", CPU "/cpu.cfs_period_us", "100000\n"}),
        3);
    /* "cpuset" is another controller with the same prefix. */
    CHECK_INT(QUOTA("4:cpuset:/a\n", "31 23 0:27 / /set rw - cgroup cgroup rw,cpuset\n",
                    {"/set/a/cpu.cfs_quota_us", "100000\n", "/set/a/cpu.cfs_period_us", "100000\n",
                     "/set/cpu.cfs_quota_us", "100000\n", "/set/cpu.cfs_period_us", "100000\n"}),
              0);
#undef CPU
}

/* Hybrid: v2 is mounted beside v1, with or without the CPU controller. */
static void test_hybrid(void **state)
{
#define CGROUP "4:cpu,cpuacct:/one\n0::/two\n"
#define MOUNTS V1_AT("/", "/sys/fs/cgroup/cpu,cpuacct") V2_AT("/", "/sys/fs/cgroup/unified")
#define V1     "/sys/fs/cgroup/cpu,cpuacct/one/"
    (void)state;
    CHECK_INT(QUOTA(CGROUP, OTHERS MOUNTS,
                    {V1 "cpu.cfs_quota_us", "300000\n", V1 "cpu.cfs_period_us", "100000\n"}),
              3);
    CHECK_INT(QUOTA(CGROUP, MOUNTS, {"/sys/fs/cgroup/unified/two/cpu.max", "200000 100000\n"}), 2);
    CHECK_INT(QUOTA(CGROUP, MOUNTS,
                    {V1 "cpu.cfs_quota_us", "300000\n", V1 "cpu.cfs_period_us", "100000\n",
                     "/sys/fs/cgroup/unified/two/cpu.max", "400000 100000\n"}),
              3);
    /* Each version has its own path. */
    CHECK_INT(QUOTA(CGROUP, MOUNTS, {"/sys/fs/cgroup/unified/one/cpu.max", "100000 100000\n"}), 0);
#undef CGROUP
#undef MOUNTS
#undef V1
}

/* In a container the mount shows only a part of the hierarchy. */
static void test_container(void **state)
{
    (void)state;
    /* Own namespace: the cgroup of the process is the root. */
    CHECK_INT(QUOTA("0::/\n", V2_AT("/", "/sys/fs/cgroup"),
                    {"/sys/fs/cgroup/cpu.max", "200000 100000\n"}),
              2);
    /* Host's namespace, the container's cgroup mounted as the root. */
    CHECK_INT(QUOTA("4:cpu:/docker/abc\n", V1_AT("/docker/abc", "/sys/fs/cgroup/cpu"),
                    {"/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "150000\n",
                     "/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n"}),
              2);
    CHECK_INT(QUOTA("0::/docker/abc/inner\n", V2_AT("/docker/abc", "/sys/fs/cgroup"),
                    {"/sys/fs/cgroup/inner/cpu.max", "300000 100000\n", "/sys/fs/cgroup/cpu.max",
                     "400000 100000\n"}),
              3);
    /* Host's path, but mounted as in an own namespace: the mount point still counts. */
    CHECK_INT(QUOTA("0::/docker/abc\n", V2_AT("/", "/sys/fs/cgroup"),
                    {"/sys/fs/cgroup/cpu.max", "200000 100000\n"}),
              2);
    /* Not below the mount's root; "/docker/ab" is not a parent of "/docker/abc". */
    CHECK_INT(QUOTA("0::/docker/abc\n", V2_AT("/docker/ab", "/sys/fs/cgroup"),
                    {"/sys/fs/cgroup/c/cpu.max", "100000 100000\n", "/sys/fs/cgroupc/cpu.max",
                     "100000 100000\n", "/sys/fs/cgroup/cpu.max", "300000 100000\n"}),
              3);
    /* Outside the namespace of the process. */
    CHECK_INT(QUOTA("0::/../other\n", V2_AT("/", "/sys/fs/cgroup"),
                    {"/sys/fs/other/cpu.max", "100000 100000\n", "/sys/fs/cgroup/cpu.max",
                     "300000 100000\n"}),
              3);
    CHECK_INT(QUOTA("0::/..a\n", V2_AT("/", "/c"), {"/c/..a/cpu.max", "300000 100000\n"}), 3);
    /* Mounted at the root of the tree. */
    CHECK_INT(QUOTA("0::/a\n", V2_AT("/", "/"), {"/a/cpu.max", "300000 100000\n"}), 3);
}

/* A mount that shows the cgroup of the process counts.  Another one is ignored. */
static void test_two_mounts(void **state)
{
    (void)state;
    CHECK_INT(QUOTA("0::/pod/me\n", V2_AT("/pod/you", "/you") V2_AT("/", "/sys/fs/cgroup"),
                    {"/you/cpu.max", "100000 100000\n", "/sys/fs/cgroup/pod/me/cpu.max",
                     "400000 100000\n"}),
              4);
    CHECK_INT(QUOTA("0::/pod/me\n", V2_AT("/pod/me", "/me") V2_AT("/", "/all"),
                    {"/me/cpu.max", "400000 100000\n", "/all/pod/cpu.max", "200000 100000\n"}),
              2);
}

static void test_odd_names(void **state)
{
    (void)state;
    CHECK_INT(QUOTA("0::/a b\n", V2_AT("/", "/cg\\040roup\\134x"),
                    {"/cg roup\\x/a b/cpu.max", "300000 100000\n"}),
              3);
    CHECK_INT(QUOTA("0::/a:b\n", V2_AT("/", "/c"), {"/c/a:b/cpu.max", "300000 100000\n"}), 3);
    CHECK_INT(QUOTA("0::/%s%n\n", V2_AT("/", "/c"), {"/c/%s%n/cpu.max", "300000 100000\n"}), 3);
    /* No optional fields, several of them. */
    CHECK_INT(QUOTA("0::/a\n", "30 23 0:26 / /c rw - cgroup2 cgroup rw\n",
                    {"/c/a/cpu.max", "300000 100000\n"}),
              3);
    CHECK_INT(QUOTA("0::/a\n", "30 23 0:26 / /c rw shared:1 master:2 - cgroup2 none rw\n",
                    {"/c/a/cpu.max", "300000 100000\n"}),
              3);
    CHECK_INT(
        QUOTA("0::/a", "30 23 0:26 / /c rw - cgroup2 none rw", {"/c/a/cpu.max", "300000 100000\n"}),
        3);
}

static void test_garbled_proc(void **state)
{
    static const char *const mounts[] = {
        "x\n",
        "30 23 0:26 / /c\n",
        "30 23 0:26 / /c rw\n",
        "30 23 0:26 / /c rw -\n",
        "30 23 0:26 / /c rw - cgroup2\n",
        "30 23 0:26 / /c rw shared:1 shared:2\n",
        "\n\n\n",
    };

    (void)state;
    for (size_t i = 0; i < sizeof mounts / sizeof mounts[0]; i++)
        CHECK_INT(QUOTA("0::/a\n", mounts[i], {"/c/a/cpu.max", "100000 100000\n"}), 0);
    CHECK_INT(QUOTA("0:\n:::\n0\n::a\n0::relative\n", V2_AT("/", "/c"),
                    {"/c/cpu.max", "200000 100000\n"}),
              2);
}

/* Without mountinfo the usual mount points are tried; without /proc/self/cgroup, the root. */
static void test_half_closed_proc(void **state)
{
    (void)state;
    CHECK_INT(QUOTA("0::/a\n", NULL, {"/sys/fs/cgroup/a/cpu.max", "300000 100000\n"}), 3);
    CHECK_INT(QUOTA("2:cpu:/a\n", NULL,
                    {"/sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "300000\n",
                     "/sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000\n"}),
              3);
    CHECK_INT(QUOTA(NULL, V2_AT("/", "/c"), {"/c/cpu.max", "300000 100000\n"}), 3);
}

/* A directory cannot be read as a file, not even by root. */
static void test_unreadable(void **state)
{
    tree t;
    unsigned quota = 7;

    (void)state;
    tree_init(&t);
    tree_put(&t, "/proc/self/cgroup", "0::/a/b\n4:cpu:/a\n");
    tree_put(&t, "/proc/self/mountinfo", V2_AT("/", "/c") V1_AT("/", "/d"));
    tree_dir(&t, "/c/a/b/cpu.max");
    tree_put(&t, "/d/a/cpu.cfs_quota_us", "100000\n");
    tree_dir(&t, "/d/a/cpu.cfs_period_us");
    CHECK_INT(fi_cgroup_cpu_quota(t.root, &quota), 0);
    CHECK_INT(quota, 0);
    tree_put(&t, "/c/a/cpu.max", "300000 100000\n");
    CHECK_INT(fi_cgroup_cpu_quota(t.root, &quota), 0);
    CHECK_INT(quota, 3);
    tree_fini(&t);
    tree_init(&t);
    tree_dir(&t, "/proc/self/cgroup");
    tree_dir(&t, "/proc/self/mountinfo");
    CHECK_INT(fi_cgroup_cpu_quota(t.root, &quota), 0);
    CHECK_INT(quota, 0);
    tree_fini(&t);
}

/* "0::" and a path "/ddd.../ddd..." of this length. */
static char *deep_path(size_t length)
{
    char *s = malloc(length + 8);

    snprintf(s, length + 8, "0::");
    for (size_t i = 0; i < length; i++)
        s[3 + i] = i % 100 == 0 ? '/' : 'd';
    s[3 + length] = '\n';
    s[4 + length] = '\0';
    return s;
}

/* The longest possible path is read.  Of a longer one the ancestors are read. */
static void test_long_paths(void **state)
{
    char *deep = deep_path(3950), *too_deep = deep_path(20000);
    char leaf[PATH_MAX];

    (void)state;
    snprintf(leaf, sizeof leaf, "/c%.3950s/cpu.max", deep + 3);
    CHECK_INT(QUOTA(deep, V2_AT("/", "/c"), {leaf, "300000 100000\n"}), 3);
    snprintf(leaf, sizeof leaf, "/c%.3900s/cpu.max", deep + 3);
    CHECK_INT(QUOTA(too_deep, V2_AT("/", "/c"),
                    {leaf, "300000 100000\n", "/c/cpu.max", "400000 100000\n"}),
              3);
    free(deep);
    free(too_deep);
}

/* A path that is one character too long must not be truncated to the path of another file. */
static void test_cut_off_path(void **state)
{
    const char *format = "%s/c%.*s/cpu.max";
    char *deep = deep_path(PATH_MAX), full[2 * PATH_MAX];
    unsigned quota = 7;
    tree t;

    (void)state;
    tree_init(&t);
    int length = PATH_MAX - snprintf(full, sizeof full, format, t.root, 0, "");
    CHECK_INT(snprintf(full, sizeof full, format, t.root, length, deep + 3), PATH_MAX);
    full[PATH_MAX - 1] = '\0'; /* .../cpu.ma */
    tree_put(&t, full + strlen(t.root), "100000 100000\n");
    snprintf(deep + 3 + length, 2, "\n");
    tree_put(&t, "/proc/self/cgroup", deep);
    tree_put(&t, "/proc/self/mountinfo", V2_AT("/", "/c"));
    tree_put(&t, "/c/cpu.max", "300000 100000\n");
    CHECK_INT(fi_cgroup_cpu_quota(t.root, &quota), 0);
    CHECK_INT(quota, 3);
    free(deep);
    tree_fini(&t);
}

/* 50,000 mounts: mountinfo is longer than the first buffers. */
static void test_many_mounts(void **state)
{
    const char *line = "99 22 0:99 / /run/some/place/or/other rw,nosuid,nodev - tmpfs tmpfs rw\n";
    const char *ours = V2_AT("/", "/c");
    size_t n = 50000, length = strlen(line);
    char *text = malloc(n * length + strlen(ours) + 1);

    (void)state;
    for (size_t i = 0; i < n; i++)
        snprintf(text + i * length, length + 1, "%s", line);
    snprintf(text + n * length, strlen(ours) + 1, "%s", ours);
    CHECK_INT(QUOTA("0::/a\n", text, {"/c/a/cpu.max", "300000 100000\n"}), 3);
    free(text);
}

CHECK_MAIN(test_no_files, test_v2_values, test_v2_garbage, test_v2_ancestors, test_v1_values,
           test_v1_ancestors, test_hybrid, test_container, test_two_mounts, test_odd_names,
           test_garbled_proc, test_half_closed_proc, test_unreadable, test_long_paths,
           test_cut_off_path, test_many_mounts)
