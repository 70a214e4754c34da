/* Cores, caches and NUMA nodes as hwloc tells them, which knows of more odd machines than we do.
 * The numbers are made as those from /sys are: a core or cache is called by its lowest CPU. */
#include "base/topology_parts.h"

#ifdef FILCH_HAVE_HWLOC

#include <hwloc.h>
#include <sys/auxv.h>

/* [any] The largest cache for data above this CPU, or NULL. */
static hwloc_obj_t last_cache(hwloc_obj_t pu)
{
    hwloc_obj_t last = NULL;

    for (hwloc_obj_t o = pu->parent; o != NULL; o = o->parent)
        if (hwloc_obj_type_is_dcache(o->type))
            last = o;
    return last;
}

/* [any] The lowest of its CPUs, those we may not use included; otherwise when there is none. */
static int lowest_cpu(hwloc_obj_t o, int otherwise)
{
    int cpu = o == NULL ? -1 : hwloc_bitmap_first(o->complete_cpuset);

    return cpu < 0 ? otherwise : cpu;
}

static void fill(hwloc_topology_t hw, hwloc_obj_t pu, fi_cpu *cpu)
{
    hwloc_obj_t cache = last_cache(pu);
    hwloc_obj_t core = hwloc_get_ancestor_obj_by_type(hw, HWLOC_OBJ_CORE, pu);
    hwloc_obj_t package = hwloc_get_ancestor_obj_by_type(hw, HWLOC_OBJ_PACKAGE, pu);
    int node = hwloc_bitmap_first(pu->nodeset);

    cpu->core = lowest_cpu(core, cpu->os);
    cpu->llc = lowest_cpu(cache != NULL ? cache : package, 0);
    cpu->node = node < 0 ? 0 : node;
}

int fi_topology_from_hwloc(hwloc_topology_t hw, fi_topology *t)
{
    for (unsigned i = 0; i < t->n; i++)
        if (hwloc_get_pu_obj_by_os_index(hw, (unsigned)t->cpus[i].os) == NULL)
            return 0;
    for (unsigned i = 0; i < t->n; i++)
        fill(hw, hwloc_get_pu_obj_by_os_index(hw, (unsigned)t->cpus[i].os), &t->cpus[i]);
    return 1;
}

/* [any] hwloc asks for the mask with growing sizes until a call succeeds.  If a filter refuses the
 * call, that loop never ends. */
static bool has_mask(void)
{
    fi_cpu_set set;

    if (fi_topology_mask_cpus(fi_topology_process_mask, &set) < 0)
        return false;
    fi_cpu_set_fini(&set);
    return true;
}

/* hwloc reads files and loads plugins that its environment names.  A set-uid program must not do that for its caller. */
int fi_topology_hwloc(fi_topology *t)
{
    hwloc_topology_t hw;
    int known = 0;

    if (getauxval(AT_SECURE) || !has_mask() || hwloc_topology_init(&hw) != 0)
        return 0;
    if (hwloc_topology_load(hw) == 0)
        known = fi_topology_from_hwloc(hw, t);
    hwloc_topology_destroy(hw);
    return known;
}

#else

int fi_topology_hwloc(fi_topology *t)
{
    (void)t;
    return 0;
}

#endif
