/* Which CPUs this process may use, how much of them, and which are near to each other.
 *
 * Everything is read below a root directory, "" for the machine itself, so that tests can point at
 * a made-up tree.  What cannot be read is no error: a machine that tells nothing has no quota, and
 * all its CPUs are equally near.
 */
#ifndef FI_BASE_TOPOLOGY_H
#define FI_BASE_TOPOLOGY_H

/* One CPU.  Equal core (or llc) means the same core (or last-level cache); the numbers are those of
 * the lowest CPU that shares it, and mean nothing else.  node is Linux's number of the NUMA node.
 */
typedef struct fi_cpu {
    int os;
    int core;
    int llc;
    int node;
} fi_cpu;

/* Who told what is near. */
typedef enum fi_topology_kind {
    FI_TOPOLOGY_FLAT,  /* nobody: each CPU a core of its own, one cache, one node */
    FI_TOPOLOGY_SYS,   /* the files in /sys */
    FI_TOPOLOGY_HWLOC, /* hwloc */
} fi_topology_kind;

typedef struct fi_topology {
    unsigned n;      /* CPUs in the affinity mask, 1 or more */
    unsigned quota;  /* CPUs the tightest cgroup quota allows, rounded up; 0: no quota */
    unsigned usable; /* the smaller of both: how many workers make sense */
    fi_topology_kind kind;
    fi_cpu *cpus; /* n of them, by ascending os */
} fi_topology;

/* [any] Read it all.  0, or -ENOMEM, and then *t needs no fini. */
int fi_topology_read(const char *root, fi_topology *t);

/* [any] The same for n given CPUs (ascending) instead of those of the affinity mask. */
int fi_topology_read_for(const char *root, const int *os, unsigned n, fi_topology *t);

/* [any] */
void fi_topology_fini(fi_topology *t);

/* [any] Only the number, for less: usable as above, or -ENOMEM. */
int fi_topology_usable(const char *root);

typedef enum fi_nearness {
    FI_NEAR_CORE,
    FI_NEAR_LLC,
    FI_NEAR_NODE,
    FI_NEAR_FAR,
} fi_nearness;

/* [any] What cpus[i] and cpus[j] share at best. */
fi_nearness fi_topology_nearness(const fi_topology *t, unsigned i, unsigned j);

/* [any] Write the n - 1 indices other than i into order, the nearest first.  Among equals it goes
 * round from i, so that not everyone begins with the same neighbour. */
void fi_topology_neighbours(const fi_topology *t, unsigned i, unsigned *order);

#endif
