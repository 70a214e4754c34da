/* Cores, caches and NUMA nodes as Linux shows them in /sys/devices/system.
 *
 * Who shares something is written as a list of CPUs, and the list is the same for all of them: one
 * read serves the whole group, so a machine of many CPUs costs as many reads as it has groups.
 */
#include "base/topology_parts.h"

#include <errno.h>
#include <string.h>

#define CPU  "%s/sys/devices/system/cpu/cpu%d"
#define NODE "%s/sys/devices/system/node"

#define UNKNOWN (-1)

/* Linux cannot be built for more; a garbled list must not send us through 2^31 files. */
#define NODES 1024

typedef struct reader {
    const char *root;
    fi_topology *t;
    fi_text file;
} reader;

/* Which number of a CPU is being filled in. */
typedef int *field(fi_cpu *cpu);

static int *core_of(fi_cpu *cpu)
{
    return &cpu->core;
}

static int *llc_of(fi_cpu *cpu)
{
    return &cpu->llc;
}

static int *node_of(fi_cpu *cpu)
{
    return &cpu->node;
}

static void set_range(fi_topology *t, int first, int last, field *f, int id)
{
    for (unsigned i = 0; i < t->n; i++)
        if (t->cpus[i].os >= first && t->cpus[i].os <= last)
            *f(&t->cpus[i]) = id;
}

/* [owner] Give all CPUs of the list this number; UNKNOWN means: that of the list's first CPU. */
static void set_list(fi_topology *t, const char *list, field *f, int id)
{
    int first, last;

    while (fi_text_range(&list, &first, &last)) {
        if (id == UNKNOWN)
            id = first;
        set_range(t, first, last, f, id);
    }
}

/* [owner] 1 when the file told this CPU's number, 0, or -ENOMEM.  A list that leaves out the CPU it
 * belongs to told nothing. */
static int take_list(reader *r, int e, fi_cpu *cpu, field *f)
{
    if (e == 0)
        set_list(r->t, r->file.s, f, UNKNOWN);
    if (e == -ENOMEM)
        return e;
    return *f(cpu) != UNKNOWN;
}

static int read_core(reader *r, fi_cpu *cpu)
{
    int e = fi_text_read(&r->file, CPU "/topology/core_cpus_list", r->root, cpu->os);

    if (e < 0 && e != -ENOMEM) /* before Linux 5.3 */
        e = fi_text_read(&r->file, CPU "/topology/thread_siblings_list", r->root, cpu->os);
    return take_list(r, e, cpu, core_of);
}

/* [owner] The level of this CPU's cache number index, 0 for one that holds instructions only.  A
 * negative errno when there is no such cache. */
static int cache_level(reader *r, int os, int index)
{
    uint64_t level;
    int e = fi_text_read(&r->file, CPU "/cache/index%d/type", r->root, os, index);

    if (e < 0)
        return e;
    if (strncmp(r->file.s, "Instruction", strlen("Instruction")) == 0)
        return 0;
    e = fi_text_read(&r->file, CPU "/cache/index%d/level", r->root, os, index);
    const char *s = e < 0 ? "" : r->file.s;
    if (e < 0)
        return e;
    return fi_text_number(&s, &level) && level < 100 ? (int)level : 0;
}

/* [owner] The number of this CPU's largest cache, UNKNOWN, or -ENOMEM. */
static int find_llc(reader *r, int os)
{
    int best = UNKNOWN, best_level = 0;

    for (int index = 0;; index++) {
        int level = cache_level(r, os, index);
        if (level == -ENOMEM)
            return level;
        if (level < 0)
            return best;
        if (level > best_level) {
            best_level = level;
            best = index;
        }
    }
}

/* [owner] Virtual machines often show no caches: then a package stands for one. */
static int read_package(reader *r, fi_cpu *cpu)
{
    int e = fi_text_read(&r->file, CPU "/topology/package_cpus_list", r->root, cpu->os);

    if (e < 0 && e != -ENOMEM) /* before Linux 5.3 */
        e = fi_text_read(&r->file, CPU "/topology/core_siblings_list", r->root, cpu->os);
    return take_list(r, e, cpu, llc_of);
}

static int read_llc(reader *r, fi_cpu *cpu)
{
    int index = find_llc(r, cpu->os);

    if (index == -ENOMEM)
        return index;
    if (index == UNKNOWN)
        return read_package(r, cpu);
    int e = fi_text_read(&r->file, CPU "/cache/index%d/shared_cpu_list", r->root, cpu->os, index);
    return take_list(r, e, cpu, llc_of);
}

/* [owner] 1 when this node's CPUs could be read, 0, or -ENOMEM. */
static int read_node(reader *r, int node)
{
    int e = fi_text_read(&r->file, NODE "/node%d/cpulist", r->root, node);

    if (e == 0)
        set_list(r->t, r->file.s, node_of, node);
    return e == -ENOMEM ? e : e == 0;
}

/* [owner] The same for all nodes. */
static int read_nodes(reader *r)
{
    fi_text online = {0};
    int e = fi_text_read(&online, NODE "/online", r->root);
    const char *list = e == 0 ? online.s : "";
    int known = 0, first, last;

    while (e != -ENOMEM && fi_text_range(&list, &first, &last))
        for (int node = first; e != -ENOMEM && node <= last && node < NODES; node++) {
            e = read_node(r, node);
            known |= e > 0;
        }
    fi_text_fini(&online);
    return e == -ENOMEM ? e : known;
}

/* [owner] 1 when anything was told of this CPU, 0, or -ENOMEM. */
static int read_cpu(reader *r, fi_cpu *cpu)
{
    int core = cpu->core != UNKNOWN ? 1 : read_core(r, cpu);

    if (core < 0)
        return core;
    int llc = cpu->llc != UNKNOWN ? 1 : read_llc(r, cpu);
    return llc < 0 ? llc : core | llc;
}

static int read_all(reader *r)
{
    int known = read_nodes(r);

    for (unsigned i = 0; known >= 0 && i < r->t->n; i++) {
        int e = read_cpu(r, &r->t->cpus[i]);
        known = e < 0 ? e : known | e;
    }
    return known;
}

/* [owner] What nobody told: a core of its own, one cache, node 0. */
static void fill_gaps(fi_topology *t)
{
    for (unsigned i = 0; i < t->n; i++) {
        fi_cpu *cpu = &t->cpus[i];
        cpu->core = cpu->core == UNKNOWN ? cpu->os : cpu->core;
        cpu->llc = cpu->llc == UNKNOWN ? 0 : cpu->llc;
        cpu->node = cpu->node == UNKNOWN ? 0 : cpu->node;
    }
}

int fi_topology_sys(const char *root, fi_topology *t)
{
    reader r = {.root = root, .t = t};

    for (unsigned i = 0; i < t->n; i++)
        t->cpus[i].core = t->cpus[i].llc = t->cpus[i].node = UNKNOWN;
    int known = read_all(&r);
    fill_gaps(t);
    fi_text_fini(&r.file);
    return known;
}
