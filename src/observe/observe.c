/* Who is told of a runtime's beginning and end. */
#include "observe/observe.h"

#include <stddef.h>

/* Ended by NULL. */
static const fi_hooks *const observers[] = {
    &fi_observe_scale, &fi_observe_stats, &fi_observe_samples,
    &fi_observe_top,   &fi_observe_trace, NULL,
};

static void end_first(int n, fi_runtime *rt, bool has_run)
{
    while (n-- > 0)
        if (observers[n]->end)
            observers[n]->end(rt, has_run);
}

static int begin(fi_runtime *rt)
{
    for (int i = 0; observers[i]; i++) {
        int e = observers[i]->begin ? observers[i]->begin(rt) : 0;
        if (e < 0) {
            end_first(i, rt, false);
            return e;
        }
    }
    return 0;
}

static void end(fi_runtime *rt, bool has_run)
{
    int n = 0;

    while (observers[n])
        n++;
    end_first(n, rt, has_run);
}

static void alarm_all(fi_runtime *rt, fi_incident why)
{
    for (int i = 0; observers[i]; i++)
        if (observers[i]->incident)
            observers[i]->incident(rt, why);
}

const fi_hooks fi_observe_hooks = {.begin = begin, .end = end, .incident = alarm_all};
