/* Who is near to whom, read from made-up machines, from hwloc's made-up machines, and from this
 * one.
 */
#include "base/mem.h"
#include "base/topology_parts.h"
#include "check.h"
#include "tree.h"

#include <limits.h>

#define CPUS  "/sys/devices/system/cpu/"
#define NODES "/sys/devices/system/node/"

static void put_cpu(const tree *t, int cpu, const char *file, const char *content)
{
    char path[256];

    snprintf(path, sizeof path, CPUS "cpu%d/%s", cpu, file);
    tree_put(t, path, content);
}

static void put_cache(const tree *t, int cpu, int index, const char *level, const char *type,
                      const char *shared)
{
    char file[64];

    snprintf(file, sizeof file, "cache/index%d/level", index);
    put_cpu(t, cpu, file, level);
    snprintf(file, sizeof file, "cache/index%d/type", index);
    put_cpu(t, cpu, file, type);
    snprintf(file, sizeof file, "cache/index%d/shared_cpu_list", index);
    put_cpu(t, cpu, file, shared);
}

/* Two nodes of two cores of two threads; thread c + 4 is on the core of c.  One L3 per node:
 *
 *     node 0: core 0 = {0, 4}, core 1 = {1, 5}     node 1: core 2 = {2, 6}, core 3 = {3, 7}
 */
static void two_node_caches(const tree *t)
{
    static const char *const threads[] = {"0,4\n", "1,5\n", "2,6\n", "3,7\n"};
    static const char *const l3[] = {"0-1,4-5\n", "2-3,6-7\n"};

    for (int cpu = 0; cpu < 8; cpu++) {
        const char *core = threads[cpu % 4];
        put_cache(t, cpu, 0, "1\n", "Data\n", core);
        put_cache(t, cpu, 1, "1\n", "Instruction\n", core);
        put_cache(t, cpu, 2, "2\n", "Unified\n", core);
        put_cache(t, cpu, 3, "3\n", "Unified\n", l3[cpu % 4 / 2]);
        put_cache(t, cpu, 4, "4\n", "Instruction\n", "0-7\n"); /* of no use to data */
    }
}

static void two_node_cores(const tree *t, const char *file)
{
    static const char *const threads[] = {"0,4\n", "1,5\n", "2,6\n", "3,7\n"};

    for (int cpu = 0; cpu < 8; cpu++)
        put_cpu(t, cpu, file, threads[cpu % 4]);
}

static void two_node_nodes(const tree *t)
{
    tree_put(t, NODES "online", "0-1\n");
    tree_put(t, NODES "node0/cpulist", "0-1,4-5\n");
    tree_put(t, NODES "node1/cpulist", "2-3,6-7\n");
}

static const int eight[] = {0, 1, 2, 3, 4, 5, 6, 7};

static void read_eight(const tree *t, fi_topology *topology)
{
    CHECK_INT(fi_topology_read_for(t->root, eight, 8, topology), 0);
    CHECK_INT(topology->n, 8);
    for (int i = 0; i < 8; i++)
        CHECK_INT(topology->cpus[i].os, i);
}

static void check_two_nodes(const fi_topology *t)
{
    for (int i = 0; i < 8; i++) {
        CHECK_INT(t->cpus[i].core, i % 4);
        CHECK_INT(t->cpus[i].llc, i % 4 / 2 * 2);
        CHECK_INT(t->cpus[i].node, i % 4 / 2);
    }
}

static void finish(tree *t, fi_topology *topology)
{
    fi_topology_fini(topology);
    tree_fini(t);
    CHECK_INT(fi_mem_live().blocks, 0);
}

static void test_two_nodes(void **state)
{
    tree t;
    fi_topology topology;

    (void)state;
    tree_init(&t);
    two_node_cores(&t, "topology/core_cpus_list");
    two_node_caches(&t);
    two_node_nodes(&t);
    read_eight(&t, &topology);
    CHECK_INT(topology.kind, FI_TOPOLOGY_SYS);
    CHECK_INT(topology.quota, 0);
    CHECK_INT(topology.usable, 8);
    check_two_nodes(&topology);
    finish(&t, &topology);
}

static void check_order(const fi_topology *t, unsigned i, const unsigned *expected)
{
    unsigned order[8] = {99, 99, 99, 99, 99, 99, 99, 99};

    fi_topology_neighbours(t, i, order);
    for (unsigned k = 0; k < t->n - 1; k++)
        CHECK_INT(order[k], expected[k]);
    CHECK_INT(order[t->n - 1], 99);
}

static void test_neighbours(void **state)
{
    tree t;
    fi_topology topology;

    (void)state;
    tree_init(&t);
    two_node_cores(&t, "topology/core_cpus_list");
    two_node_caches(&t);
    two_node_nodes(&t);
    read_eight(&t, &topology);
    CHECK_INT(fi_topology_nearness(&topology, 0, 4), FI_NEAR_CORE);
    CHECK_INT(fi_topology_nearness(&topology, 0, 5), FI_NEAR_LLC);
    CHECK_INT(fi_topology_nearness(&topology, 0, 2), FI_NEAR_FAR);
    check_order(&topology, 0, (const unsigned[]){4, 1, 5, 2, 3, 6, 7});
    check_order(&topology, 5, (const unsigned[]){1, 0, 4, 6, 7, 2, 3});
    check_order(&topology, 7, (const unsigned[]){3, 2, 6, 0, 1, 4, 5});
    finish(&t, &topology);
}

/* Two caches in one node: the fourth kind of nearness. */
static void test_same_node_other_cache(void **state)
{
    tree t;
    fi_topology topology;

    (void)state;
    tree_init(&t);
    two_node_caches(&t);
    tree_put(&t, NODES "online", "0\n");
    tree_put(&t, NODES "node0/cpulist", "0-7\n");
    read_eight(&t, &topology);
    CHECK_INT(fi_topology_nearness(&topology, 0, 1), FI_NEAR_LLC);
    CHECK_INT(fi_topology_nearness(&topology, 0, 2), FI_NEAR_NODE);
    /* Nobody told of cores: each CPU is one. */
    CHECK_INT(fi_topology_nearness(&topology, 0, 4), FI_NEAR_LLC);
    check_order(&topology, 0, (const unsigned[]){1, 4, 5, 2, 3, 6, 7});
    finish(&t, &topology);
}

/* Names from before Linux 5.3; and no caches, as virtual machines show it. */
static void test_older_names_and_packages(void **state)
{
    static const char *const package[] = {"0-1,4-5\n", "2-3,6-7\n"};
    tree t;
    fi_topology topology;

    (void)state;
    tree_init(&t);
    two_node_cores(&t, "topology/thread_siblings_list");
    for (int cpu = 0; cpu < 8; cpu++)
        put_cpu(&t, cpu, "topology/core_siblings_list", package[cpu % 4 / 2]);
    two_node_nodes(&t);
    read_eight(&t, &topology);
    check_two_nodes(&topology);
    finish(&t, &topology);
}

/* Some CPUs of the machine only, and not its first: groups keep their number. */
static void test_part_of_a_machine(void **state)
{
    static const int os[] = {3, 5, 6};
    tree t;
    fi_topology topology;

    (void)state;
    tree_init(&t);
    two_node_cores(&t, "topology/core_cpus_list");
    two_node_caches(&t);
    two_node_nodes(&t);
    CHECK_INT(fi_topology_read_for(t.root, os, 3, &topology), 0);
    CHECK_INT(topology.usable, 3);
    CHECK_INT(topology.cpus[0].os, 3);
    CHECK_INT(topology.cpus[0].core, 3);
    CHECK_INT(topology.cpus[0].llc, 2);
    CHECK_INT(topology.cpus[0].node, 1);
    CHECK_INT(topology.cpus[1].core, 1);
    CHECK_INT(topology.cpus[1].llc, 0);
    CHECK_INT(topology.cpus[2].core, 2);
    CHECK_INT(topology.cpus[2].llc, 2);
    check_order(&topology, 0, (const unsigned[]){2, 1});
    finish(&t, &topology);
}

static void check_flat(const fi_topology *t)
{
    CHECK_INT(t->kind, FI_TOPOLOGY_FLAT);
    for (unsigned i = 0; i < t->n; i++) {
        CHECK_INT(t->cpus[i].core, t->cpus[i].os);
        CHECK_INT(t->cpus[i].llc, 0);
        CHECK_INT(t->cpus[i].node, 0);
    }
    check_order(t, 6, (const unsigned[]){7, 0, 1, 2, 3, 4, 5});
}

static void test_no_sys(void **state)
{
    tree t;
    fi_topology topology;

    (void)state;
    tree_init(&t);
    read_eight(&t, &topology);
    check_flat(&topology);
    CHECK_INT(topology.usable, 8);
    finish(&t, &topology);
}

/* Directories where files should be cannot be read by anyone, root included. */
static void test_closed_sys(void **state)
{
    tree t;
    fi_topology topology;

    (void)state;
    tree_init(&t);
    tree_dir(&t, CPUS "cpu0/topology/core_cpus_list");
    tree_dir(&t, CPUS "cpu0/cache/index0/type");
    tree_dir(&t, CPUS "cpu1/topology/thread_siblings_list");
    tree_dir(&t, NODES "online");
    read_eight(&t, &topology);
    check_flat(&topology);
    finish(&t, &topology);
}

static void test_garbled_sys(void **state)
{
    static const char *const garbage[] = {
        "", "\n", "x", "-", ",", "-1", "9-3\n", "1-\n", "99999999999999999999\n", "\xff\xfe"};
    fi_topology topology;

    (void)state;
    for (size_t i = 0; i < sizeof garbage / sizeof garbage[0]; i++) {
        tree t;
        tree_init(&t);
        two_node_cores(&t, "topology/core_cpus_list");
        for (int cpu = 0; cpu < 8; cpu++)
            put_cpu(&t, cpu, "topology/core_cpus_list", garbage[i]);
        put_cache(&t, 0, 0, garbage[i], garbage[i], garbage[i]);
        put_cache(&t, 1, 0, "3\n", "Unified\n", garbage[i]);
        tree_put(&t, NODES "online", garbage[i]);
        read_eight(&t, &topology);
        check_flat(&topology);
        finish(&t, &topology);
    }
}

/* A list that leaves out the CPU it is about, and one that goes on for ever. */
static void test_false_lists(void **state)
{
    tree t;
    fi_topology topology;

    (void)state;
    tree_init(&t);
    put_cpu(&t, 0, "topology/core_cpus_list", "1-2\n");
    put_cpu(&t, 3, "topology/core_cpus_list", "3-2147483647\n");
    tree_put(&t, NODES "online", "0-2147483647\n");
    tree_put(&t, NODES "node5/cpulist", "0-2147483647\n");
    read_eight(&t, &topology);
    CHECK_INT(topology.cpus[0].core, 0);
    CHECK_INT(topology.cpus[1].core, 1);
    CHECK_INT(topology.cpus[2].core, 1);
    CHECK_INT(topology.cpus[3].core, 3);
    CHECK_INT(topology.cpus[7].core, 3);
    CHECK_INT(topology.cpus[7].node, 5);
    finish(&t, &topology);
}

/* Lists longer than a page: 6000 CPUs, of which every second shares a cache with ours. */
static void test_long_lists(void **state)
{
    static const int os[] = {0, 1, 5998, 5999};
    char *list = malloc(65536), *end = list;
    tree t;
    fi_topology topology;

    (void)state;
    tree_init(&t);
    for (int i = 0; i < 6000; i += 2)
        end += sprintf(end, "%s%d", i == 0 ? "" : ",", i);
    put_cache(&t, 0, 0, "3\n", "Unified\n", list);
    put_cache(&t, 1, 0, "3\n", "Unified\n", "1,5999\n");
    CHECK_INT(fi_topology_read_for(t.root, os, 4, &topology), 0);
    CHECK_INT(topology.cpus[2].llc, 0);
    CHECK_INT(topology.cpus[3].llc, 1);
    free(list);
    finish(&t, &topology);
}

/* The quota decides how many of the CPUs make sense. */
static void test_usable(void **state)
{
    tree t;
    fi_topology topology;

    (void)state;
    tree_init(&t);
    tree_put(&t, "/proc/self/cgroup", "0::/a\n");
    tree_put(&t, "/proc/self/mountinfo", "30 23 0:26 / /c rw - cgroup2 none rw\n");
    tree_put(&t, "/c/a/cpu.max", "250000 100000\n");
    read_eight(&t, &topology);
    CHECK_INT(topology.quota, 3);
    CHECK_INT(topology.usable, 3);
    fi_topology_fini(&topology);
    tree_put(&t, "/c/a/cpu.max", "2500000 100000\n");
    read_eight(&t, &topology);
    CHECK_INT(topology.quota, 25);
    CHECK_INT(topology.usable, 8);
    fi_topology_fini(&topology);
    tree_put(&t, "/c/a/cpu.max", "1000 100000\n");
    CHECK_INT(fi_topology_usable(t.root), 1);
    CHECK_INT(fi_topology_read(t.root, &topology), 0);
    CHECK_INT(topology.usable, 1);
    finish(&t, &topology);
}

/* Whatever this machine is: everyone is in the list, once, and the near come before the far. */
static void test_this_machine(void **state)
{
    fi_topology t;

    (void)state;
    CHECK_INT(fi_topology_read("", &t), 0);
    CHECK(t.n >= 1 && t.usable >= 1 && t.usable <= t.n);
    CHECK_INT(t.usable, fi_topology_usable(""));
    printf("%u CPUs, %u usable, told by %s\n", t.n, t.usable,
           t.kind == FI_TOPOLOGY_HWLOC ? "hwloc"
           : t.kind == FI_TOPOLOGY_SYS ? "/sys"
                                       : "nobody");
    unsigned *order = calloc(t.n, sizeof *order);
    bool *seen = calloc(t.n, sizeof *seen);
    fi_topology_neighbours(&t, t.n - 1, order);
    for (unsigned k = 0; k + 1 < t.n; k++) {
        CHECK(order[k] < t.n - 1 && !seen[order[k]]);
        seen[order[k]] = true;
        CHECK(k == 0 || fi_topology_nearness(&t, t.n - 1, order[k - 1]) <=
                            fi_topology_nearness(&t, t.n - 1, order[k]));
    }
    free(order);
    free(seen);
    fi_topology_fini(&t);
    CHECK_INT(fi_mem_live().blocks, 0);
}

#ifdef FILCH_HAVE_HWLOC
#include <hwloc.h>

static void read_synthetic(const char *description, fi_topology *t)
{
    hwloc_topology_t hw;

    CHECK_INT(hwloc_topology_init(&hw), 0);
    CHECK_INT(hwloc_topology_set_synthetic(hw, description), 0);
    CHECK_INT(hwloc_topology_load(hw), 0);
    CHECK_INT(fi_topology_from_hwloc(hw, t), 1);
    hwloc_topology_destroy(hw);
}

/* The same machine as above, told by hwloc: the same numbers must come out. */
static void test_hwloc(void **state)
{
    fi_cpu cpus[8];
    fi_topology t = {.n = 8, .cpus = cpus};

    (void)state;
    for (int i = 0; i < 8; i++)
        cpus[i] = (fi_cpu){.os = i, .core = -1, .llc = -1, .node = -1};
    read_synthetic("node:2 l3:1 l2:2 l1d:1 l1i:1 core:1 pu:2(indexes=0,4,1,5,2,6,3,7)", &t);
    check_two_nodes(&t);
    read_synthetic("package:2 core:2 pu:2", &t); /* no caches, one node */
    for (int i = 0; i < 8; i++) {
        CHECK_INT(cpus[i].core, i / 2 * 2);
        CHECK_INT(cpus[i].llc, i / 4 * 4);
        CHECK_INT(cpus[i].node, 0);
    }
}

/* hwloc that does not know one of our CPUs is not believed at all. */
static void test_hwloc_of_another_machine(void **state)
{
    fi_cpu cpus[] = {{.os = 0, .core = 7}, {.os = 8, .core = 7}};
    fi_topology t = {.n = 2, .cpus = cpus};
    hwloc_topology_t hw;

    (void)state;
    CHECK_INT(hwloc_topology_init(&hw), 0);
    CHECK_INT(hwloc_topology_set_synthetic(hw, "core:8 pu:1"), 0);
    CHECK_INT(hwloc_topology_load(hw), 0);
    CHECK_INT(fi_topology_from_hwloc(hw, &t), 0);
    CHECK_INT(cpus[0].core, 7);
    hwloc_topology_destroy(hw);
}
#else
/* Built without hwloc: asking it changes nothing. */
static void test_hwloc(void **state)
{
    fi_cpu cpu = {.os = 3, .core = 7};
    fi_topology t = {.n = 1, .cpus = &cpu};

    (void)state;
    CHECK_INT(fi_topology_hwloc(&t), 0);
    CHECK_INT(cpu.core, 7);
}

static void test_hwloc_of_another_machine(void **state)
{
    test_hwloc(state);
}
#endif

CHECK_MAIN(test_two_nodes, test_neighbours, test_same_node_other_cache,
           test_older_names_and_packages, test_part_of_a_machine, test_no_sys, test_closed_sys,
           test_garbled_sys, test_false_lists, test_long_lists, test_usable, test_this_machine,
           test_hwloc, test_hwloc_of_another_machine)
