/* The topology put together, and who is near to whom. */
#include "base/topology.h"
#include "base/mem.h"
#include "base/topology_parts.h"

#include <errno.h>
#include <filch/machine.h>
#include <limits.h>

static unsigned usable(unsigned cpus, unsigned quota)
{
    return quota != 0 && quota < cpus ? quota : cpus;
}

/* [owner] Nothing is known: each CPU a core of its own, one cache, one node. */
static int make_flat(fi_topology *t, const int *os, unsigned n)
{
    *t = (fi_topology){.n = n, .kind = FI_TOPOLOGY_FLAT, .cpus = FI_NEW_ARRAY(fi_cpu, n)};
    if (t->cpus == NULL)
        return -ENOMEM;
    for (unsigned i = 0; i < n; i++)
        t->cpus[i] = (fi_cpu){.os = os[i], .core = os[i]};
    return 0;
}

/* [owner] hwloc can only be asked about the machine itself. */
static int read_neighbourhood(const char *root, fi_topology *t)
{
    if (*root == '\0' && fi_topology_hwloc(t) > 0) {
        t->kind = FI_TOPOLOGY_HWLOC;
        return 0;
    }
    int e = fi_topology_sys(root, t);
    if (e > 0)
        t->kind = FI_TOPOLOGY_SYS;
    return e < 0 ? e : 0;
}

int fi_topology_read_for(const char *root, const int *os, unsigned n, fi_topology *t)
{
    int e = make_flat(t, os, n);

    if (e < 0)
        return e;
    e = read_neighbourhood(root, t);
    if (e == 0)
        e = fi_topology_quota(root, &t->quota);
    if (e < 0)
        fi_topology_fini(t);
    else
        t->usable = usable(n, t->quota);
    return e;
}

int fi_topology_read(const char *root, fi_topology *t)
{
    fi_cpu_set set;
    int e = fi_topology_affinity(fi_topology_process_mask, &set);

    if (e < 0)
        return e;
    e = fi_topology_read_for(root, set.os, set.n, t);
    fi_cpu_set_fini(&set);
    return e;
}

void fi_topology_fini(fi_topology *t)
{
    FI_DELETE_ARRAY(fi_cpu, t->cpus, t->n);
    *t = (fi_topology){0};
}

int fi_topology_usable(const char *root)
{
    unsigned quota;
    fi_cpu_set set;
    int e = fi_topology_quota(root, &quota);

    if (e < 0)
        return e;
    e = fi_topology_affinity(fi_topology_process_mask, &set);
    if (e < 0)
        return e;
    unsigned n = usable(set.n, quota);
    fi_cpu_set_fini(&set);
    return n > INT_MAX ? INT_MAX : (int)n;
}

unsigned filch_cpu_count(void)
{
    int n = fi_topology_usable("");

    return n < 1 ? 1 : (unsigned)n;
}

fi_nearness fi_topology_nearness(const fi_topology *t, unsigned i, unsigned j)
{
    const fi_cpu *a = &t->cpus[i], *b = &t->cpus[j];

    if (a->core == b->core)
        return FI_NEAR_CORE;
    if (a->llc == b->llc)
        return FI_NEAR_LLC;
    return a->node == b->node ? FI_NEAR_NODE : FI_NEAR_FAR;
}

void fi_topology_neighbours(const fi_topology *t, unsigned i, unsigned *order)
{
    unsigned used = 0;

    for (int near = FI_NEAR_CORE; near <= FI_NEAR_FAR; near++)
        for (unsigned step = 1; step < t->n; step++) {
            unsigned j = (i + step) % t->n;
            if ((int)fi_topology_nearness(t, i, j) == near)
                order[used++] = j;
        }
}
