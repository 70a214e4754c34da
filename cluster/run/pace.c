#include "run/pace.h"

#include <time.h>

#define US            INT64_C(1000)
#define MS            INT64_C(1000000)
#define POLL_NS       (2 * US)
#define PROBE_NS      (200 * US)
#define FAR_HUNGRY_NS (50 * US)
#define FAR_OTHER_NS  (200 * US)
#define FAR_MAX_NS    (1 * MS)
#define FAR_LIMIT_NS  (10 * MS)
#define HELP_NS       (1 * MS)
#define HELP_MAX_NS   (16 * MS)
#define WAKEUPS       64
#define CPU_SHARE     50 /* 2 % */

void fi_pace_init(fi_pace *p, bool has_far, bool can_probe)
{
    *p = (fi_pace){.has_far = has_far, .can_probe = can_probe, .far_max_ns = FAR_MAX_NS};
}

static int64_t thread_cpu_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000 * MS + t.tv_nsec;
}

/* Adapt the longest sleep to the CPU time of the last wake-ups. */
static void cost_measure(fi_pace *p)
{
    int64_t cpu = thread_cpu_ns(), max = (cpu - p->measured_cpu_ns) / WAKEUPS * CPU_SHARE;

    p->measured_cpu_ns = cpu;
    p->unmeasured = 0;
    p->far_max_ns = max < FAR_MAX_NS ? FAR_MAX_NS : max > FAR_LIMIT_NS ? FAR_LIMIT_NS : max;
}

static int64_t nap_double(fi_pace *p, int64_t min, int64_t max)
{
    int64_t nap = p->nap_ns > 0 ? 2 * p->nap_ns : min;

    p->nap_ns = nap < max ? nap : max;
    return p->nap_ns;
}

int64_t fi_pace_nap(fi_pace *p, fi_pace_for what, int64_t now)
{
    bool is_hungry = what == FI_PACE_WORK;

    if (now - p->news_ns < (is_hungry && p->can_probe ? PROBE_NS : POLL_NS))
        return 0;
    if (p->has_far) {
        if (++p->unmeasured == WAKEUPS)
            cost_measure(p);
        return nap_double(p, is_hungry ? FAR_HUNGRY_NS : FAR_OTHER_NS, p->far_max_ns);
    }
    return what == FI_PACE_HELP ? nap_double(p, HELP_NS, HELP_MAX_NS) : INT64_MAX;
}
