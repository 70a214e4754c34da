/* Forwards the hooks of the runtime to all observers. */
#include "observe/observe.h"

#include <stddef.h>

static const fi_observer *const observers[] = {
    &fi_observe_scale, &fi_observe_stats, &fi_observe_samples, &fi_observe_trace, NULL,
};

static void observers_end_first(int n, fi_runtime *rt, bool has_run)
{
    while (n-- > 0)
        if (observers[n]->end)
            observers[n]->end(rt, has_run);
}

int fi_observers_begin(fi_runtime *rt)
{
    for (int i = 0; observers[i]; i++) {
        int e = observers[i]->begin ? observers[i]->begin(rt) : 0;
        if (e < 0) {
            observers_end_first(i, rt, false);
            return e;
        }
    }
    return 0;
}

void fi_observers_end(fi_runtime *rt, bool has_run)
{
    int n = 0;

    while (observers[n])
        n++;
    observers_end_first(n, rt, has_run);
}

void fi_observers_incident(fi_runtime *rt, fi_incident incident)
{
    for (int i = 0; observers[i]; i++)
        if (observers[i]->incident)
            observers[i]->incident(rt, incident);
}
