#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* sched_getaffinity, CPU_AND */
#endif
#include "workers.h"

#include "report.h"

#include <filch/runtime.h>
#include <sched.h>
#include <unistd.h>

/* False: the process is unknown here, or the mask is larger than a cpu_set_t. */
static bool mask_read(pid_t pid, cpu_set_t *mask)
{
    return sched_getaffinity(pid, sizeof *mask, mask) == 0;
}

/* Ranks of this node, with this one, that may use a CPU of this one.  A rank whose mask cannot be
 * read counts. */
static unsigned sharers_count(const fi_place *place)
{
    cpu_set_t own, other;
    unsigned n = 0;

    if (!mask_read(0, &own))
        return place->n_near;
    for (unsigned i = 0; i < place->n_near; i++) {
        bool is_known = place->near[i] != place->rank && mask_read(place->pids[i], &other);

        if (is_known)
            CPU_AND(&other, &other, &own);
        n += !is_known || CPU_COUNT(&other) > 0;
    }
    return n;
}

unsigned fi_workers_choose(const fi_place *place)
{
    unsigned cpus = filch_cpu_count(), workers = cpus / sharers_count(place);

    return workers > 0 ? workers : 1;
}

bool fi_workers_lack_cpus(const fi_place *place)
{
    return filch_cpu_count() < sharers_count(place);
}

/* CPUs that the ranks of this node may use together. */
static unsigned near_cpus_count(const fi_place *place)
{
    cpu_set_t all, other;

    CPU_ZERO(&all);
    for (unsigned i = 0; i < place->n_near; i++)
        if (mask_read(place->pids[i], &other))
            CPU_OR(&all, &all, &other);
    return (unsigned)CPU_COUNT(&all);
}

void fi_workers_check_binding(const fi_place *place, unsigned workers)
{
    cpu_set_t launcher;
    unsigned used = near_cpus_count(place), n;

    if (!mask_read(getppid(), &launcher))
        return;
    n = (unsigned)CPU_COUNT(&launcher);
    if (used > 0 && used < n)
        fi_report(FILCH_LEVEL_WARNING,
                  "the launcher has bound the %u rank%s on this node to %u of %u CPUs, so each has "
                  "%u worker%s; with Open MPI, use mpirun --bind-to none, or --map-by "
                  "ppr:1:node:pe=%u",
                  place->n_near, place->n_near == 1 ? "" : "s", used, n, workers,
                  workers == 1 ? "" : "s", n);
}
