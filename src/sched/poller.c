#include "sched/poller.h"

#include "base/init_flag.h"
#include "sched/tracepoint.h"

fi_poller *fi_poller_get(fi_runtime *rt)
{
    return fi_init_get(&rt->poller);
}

/* Two threads may call this at once.  Both publish the same poller. */
fi_poller *fi_poller_set(fi_runtime *rt, fi_poller *p)
{
    p = fi_idle_set_poller(&rt->idle, p);
    fi_init_set(&rt->poller, p);
    return p;
}

/* polling_now guards nothing.  Two workers that poll at once would only contend. */
static bool poll_unless_polled(fi_worker *w, fi_poller *p)
{
    uint32_t no = 0;
    uint64_t since;
    int n;

    if (fi_load_relaxed(&p->polling_now) || !fi_cas_relaxed(&p->polling_now, &no, 1u))
        return false;
    since = fi_trace_poll(w);
    n = p->poll(p, FI_POLL_NOW, NULL, NULL);
    fi_trace_poll_end(w, since, n);
    fi_store_relaxed(&p->polling_now, 0u);
    return n > 0;
}

bool fi_poller_poll(fi_worker *w)
{
    fi_poller *p = fi_poller_get(w->runtime);

    return p && fi_idle_is_unpolled(&w->runtime->idle) && poll_unless_polled(w, p);
}
