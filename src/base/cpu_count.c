/* The number of CPUs that this process may use. */
#include "base/cpu_count.h"
#include "base/cgroup.h"

#include <errno.h>

/* [any] 1 or more, or -ENOMEM. */
static int affinity_count(fi_affinity_get *get)
{
    fi_cpu_set set;
    int e = fi_cpu_set_read(get, &set);

    if (e < 0)
        return e == -ENOMEM ? e : 1;
    int n = (int)set.n;
    fi_cpu_set_fini(&set);
    return n;
}

int fi_cpu_count(const char *root, fi_affinity_get *get)
{
    unsigned quota;
    int e = fi_cgroup_cpu_quota(root, &quota);

    if (e < 0)
        return e;
    int n = affinity_count(get);
    return quota != 0 && n > 0 && quota < (unsigned)n ? (int)quota : n;
}
