/* Workers whose threads the kernel, a debugger or a signal handler keeps from running.
 *
 * One sleeper blocks in the poller for all (sched/idle.h), and one sleeps until the next timer.
 * While a worker searches, no other one is woken.  If that one thread does not run, events, timers
 * and work wait for it although other workers sleep.  So the watchdog acts when one of these lasts
 * for STALL_NS:
 *   - the poller has events, and its worker is in the same wait: the watchdog polls instead;
 *   - a timer is due, or there is work while a worker sleeps: the watchdog wakes another worker. */
#include "debug/watchdog.h"

#include "base/clock.h"
#include "sched/poller.h"
#include "sched/timers.h"

#include <poll.h>

#define STALL_NS 10000000

static bool is_readable(int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};

    return poll(&p, 1, 0) > 0;
}

/* After the first stall of a wait, the watchdog polls at once for its later events. */
static bool check_poller(fi_runtime *rt, fi_stall *s, int64_t now_ns)
{
    fi_poller *p = fi_poller_get(rt);
    uint32_t polls;

    if (!p || !fi_idle_poll_seq(&rt->idle, &polls)) {
        s->since_ns = 0;
        return false;
    }
    if (s->polls != polls)
        s->since_ns = 0;
    s->polls = polls;
    if (!is_readable(p->fd))
        return false;
    if (s->since_ns == 0)
        s->since_ns = now_ns;
    else if (now_ns - s->since_ns >= STALL_NS)
        p->poll(p, FI_POLL_NOW, NULL, NULL);
    return true;
}

/* Normally a worker that is awake takes the work in time, or wakes another one. */
static bool check_work(fi_runtime *rt, fi_stall *s, int64_t now_ns)
{
    if (!fi_idle_any_asleep(&rt->idle) || !fi_runtime_has_shared_work(rt)) {
        s->work_since_ns = 0;
        return false;
    }
    if (s->work_since_ns == 0)
        s->work_since_ns = now_ns;
    return now_ns - s->work_since_ns >= STALL_NS;
}

int64_t fi_stall_deadline(fi_runtime *rt)
{
    int64_t next = fi_timers_next(rt);

    return next > FI_TIMER_NEVER - STALL_NS ? FI_TIMER_NEVER : next + STALL_NS;
}

bool fi_stall_check(fi_runtime *rt, fi_stall *s, int64_t now_ns)
{
    bool events = check_poller(rt, s, now_ns), late = fi_stall_deadline(rt) <= now_ns;

    if (late || check_work(rt, s, now_ns))
        fi_idle_wake_another(&rt->idle, now_ns - STALL_NS + 1);
    return events || late;
}
