/* Fibers that hold their worker.
 *
 * A worker counts how often it looks for work.  While that number stays the same and the worker has a fiber, that fiber
 * neither waits nor yields.  What is due to others meanwhile, others must find: they are woken for it.
 *
 * A thread that waits for a processor holds nothing, the machine is busy: that time does not count, where the kernel tells
 * it.  Tasks and jobs compute by nature: they are counted, not named. */
#include "base/clock.h"
#include "sched/dump.h"
#include "sched/observer.h"
#include "sched/worker.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define ONE_LINE_IN_NS 1000000000 /* at most */
#define NAME_SHOWN     64

/* For how long the thread has waited for a processor, all in all. */
static int64_t delay_of(int tid)
{
    char path[64], text[128];
    char *second;
    ssize_t n;
    int fd;

    snprintf(path, sizeof path, "/proc/self/task/%d/schedstat", tid);
    fd = tid ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0)
        return 0;
    n = read(fd, text, sizeof text - 1);
    close(fd);
    text[n > 0 ? n : 0] = '\0';
    (void)strtoll(text, &second, 10);
    return strtoll(second, NULL, 10);
}

/* Of a guest we do not know the thread. */
static int64_t delay(fi_worker *w)
{
    return fi_load_relaxed(&w->sleeper.asleep) == FI_AWAKE ? delay_of(fi_load_relaxed(&w->tid)) : 0;
}

/* It may have gone on since we looked, and then this is not the name of who held the worker. */
static void tell(fi_worker *w, fi_fiber *f, uintptr_t body, int64_t held_ns)
{
    char name[NAME_SHOWN], function[128], line[320];
    ssize_t done;
    int n;

    fi_dump_name(f, name, sizeof name);
    fi_frame_name((const void *)body, function, sizeof function);
    if (fi_load_relaxed(&w->tick) != w->hog.tick)
        return;
    n = snprintf(line, sizeof line, "filch: fiber '%s' has held worker %u for %lld ms (%s)\n", name,
                 w->index, (long long)(held_ns / 1000000), function);
    done = write(STDERR_FILENO, line, (size_t)n);
    (void)done; /* there is nobody else to tell */
}

static void held(fi_worker *w, fi_fiber *f, int64_t held_ns, int64_t now_ns)
{
    static int64_t told_ns; /* the watcher's own */
    uintptr_t body = fi_load_relaxed(&f->body);
    fi_hog *h = &w->hog;

    if (!h->counted)
        fi_count(&w->held);
    h->counted = true;
    if (h->told || !body || (told_ns && now_ns - told_ns < ONE_LINE_IN_NS))
        return;
    h->told = true;
    told_ns = now_ns;
    tell(w, f, body, held_ns);
    fi_observer_above.alarm(w->runtime, FI_ALARM_HELD);
}

/* True: it has not come by since the last look. */
static bool look_at(fi_worker *w, int64_t limit_ns, int64_t now_ns)
{
    fi_fork *current = fi_fork_look(&w->current);
    uint32_t tick = fi_load_relaxed(&w->tick);
    fi_hog *h = &w->hog;
    int64_t ns;

    if (!current || tick != h->tick) {
        *h = (fi_hog){.tick = tick};
        return false;
    }
    if (!h->again) {
        h->again = true;
        h->since_ns = now_ns;
        h->delay_ns = delay(w);
        return true;
    }
    ns = now_ns - h->since_ns;
    if (limit_ns > 0 && ns >= limit_ns)
        ns -= delay(w) - h->delay_ns;
    if (limit_ns > 0 && ns >= limit_ns)
        held(w, fi_fiber_of_fork(current), ns, now_ns);
    return true;
}

/* What it would have run next stands where others do not look (sched/runq.h). */
static void release_next(fi_worker *w)
{
    fi_runnable *r;

    if (fi_runq_size(&w->ready) == 1 && fi_runq_steal(&w->ready, FI_LATCH_NOBODY, 1, true, &r) == 1)
        fi_queue_push(&w->runtime->global, r);
}

void fi_hog_look(fi_runtime *rt, int64_t now_ns)
{
    bool any = false;

    for (unsigned i = 0; i < rt->workers_n; i++)
        if (look_at(&rt->workers[i], rt->settings.watchdog_ns, now_ns)) {
            release_next(&rt->workers[i]);
            any = true;
        }
    if (any)
        fi_poll_flush(rt);
    if (any && fi_is_there_work(rt))
        fi_idle_notify(&rt->idle);
}
