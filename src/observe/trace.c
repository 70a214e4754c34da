/* FILCH_TRACE: what the workers do, and when.
 *
 * Each worker has a log (sched/tracepoint.h) from the start of the runtime to its end.  A picture of all of them is written at the end,
 * and while the workers go on, when something is wrong or somebody asks for it: with FILCH_TRACE_MS only the last so many
 * milliseconds, so that a program can run for days with it. */
#include "base/at_fork.h"
#include "base/clock.h"
#include "observe/observe.h"
#include "observe/trace_file.h"
#include "observe/trace_json.h"
#include "observe/vm.h"
#include "sched/worker.h"

#include <errno.h>
#include <unistd.h>

#define HELD_NS INT64_C(5000000000) /* between two files that tell of a worker that is held */

/* Of the one runtime that there is. */
typedef struct trace {
    bool on;
    fi_trace_file file;
    uint64_t began;
    void *memory;
    size_t size;
    int64_t held_ns; /* when the last such file was written; 0: never */
    fi_lock lock;    /* one picture at a time */
} trace;

static trace now;
static pid_t first; /* the process that had the first trace; a child of a fork is another */

__attribute__((constructor)) static void register_at_fork(void)
{
    fi_at_fork(FI_FORK_TRACE, &now.lock, NULL);
}

/* ---- logs ---- */

static fi_event_ring *put_log(fi_event_ring *log, fi_event_ring_slot **slots, uint32_t events)
{
    log->capacity = events;
    log->slots = *slots;
    *slots += events;
    return log;
}

/* Pages of a log that nobody came to are none. */
static int make_logs(fi_runtime *rt)
{
    uint32_t events = rt->settings.observe.trace_events;
    size_t logs = rt->n_workers + 1;
    fi_event_ring_slot *slots;
    fi_event_ring *log;

    now.size =
        sizeof(fi_intern) + logs * (sizeof(fi_event_ring) + events * sizeof(fi_event_ring_slot));
    now.memory = fi_vm_map(now.size);
    if (!now.memory)
        return -ENOMEM;
    slots = now.memory;
    log = (fi_event_ring *)(void *)(slots + logs * events);
    for (unsigned i = 0; i < rt->n_workers; i++) {
        rt->workers[i].events = put_log(log++, &slots, events);
        rt->workers[i].hook_mask |= FI_HOOK_TRACE;
    }
    rt->external_events = put_log(log++, &slots, events);
    rt->names = (fi_intern *)(void *)log;
    return 0;
}

static void free_logs(fi_runtime *rt)
{
    for (unsigned i = 0; i < rt->n_workers; i++)
        rt->workers[i].events = NULL, rt->workers[i].hook_mask &= ~(uint32_t)FI_HOOK_TRACE;
    rt->external_events = NULL;
    rt->names = NULL;
    fi_vm_unmap(now.memory, now.size);
}

/* ---- pictures ---- */

typedef struct drawing {
    fi_runtime *rt;
    const char *why;
} drawing;

static int draw(void *ctx, int fd)
{
    const drawing *d = ctx;

    return fi_trace_write_json(
        d->rt, &(fi_trace_request){now.began, d->rt->settings.observe.trace_ns, d->why, fd});
}

/* word: in the name of the file; NULL: none. */
static void write_picture(fi_runtime *rt, const char *word, const char *why)
{
    fi_lock_lock(&now.lock);
    fi_trace_file_write(&now.file, word, draw, &(drawing){rt, why});
    fi_lock_unlock(&now.lock);
}

/* ---- for the runtime ---- */

/* A program is not to fail because nobody can watch it. */
static int begin(fi_runtime *rt)
{
    const char *wish = rt->settings.observe.trace;
    pid_t pid = getpid();
    int e;

    now = (trace){.on = false};
    if (!wish)
        return 0;
    first = first ? first : pid;
    e = fi_trace_file_name(&now.file, wish, pid, first, rt->number);
    if (e == 0)
        e = fi_output_check(&now.file.output);
    if (e == 0) {
        e = make_logs(rt);
        if (e < 0)
            fi_output_complain("FILCH_TRACE", wish, e);
    }
    now.on = e == 0;
    fi_clock_ticks_to_ns(0); /* takes its time the first time */
    now.began = fi_clock_ticks();
    return 0;
}

static void end(fi_runtime *rt, bool has_run)
{
    if (!now.on)
        return;
    now.on = false;
    if (has_run)
        write_picture(rt, NULL, "stop");
    free_logs(rt);
}

/* That a worker is held may come often, and is news only to who keeps the last moments for such a case. */
static void at_held(fi_runtime *rt)
{
    int64_t ns = fi_clock_now();

    if (rt->settings.observe.trace_ns == 0 || (now.held_ns && ns - now.held_ns < HELD_NS))
        return;
    write_picture(rt, "held", "a fiber held its worker");
    now.held_ns = fi_clock_now();
}

static void at_alarm(fi_runtime *rt, fi_incident why)
{
    if (!now.on || rt->in_fork_child)
        return;
    switch (why) {
    case FI_INCIDENT_SIGNAL:
        write_picture(rt, "signal", "signal");
        break;
    case FI_INCIDENT_DEADLOCK:
        write_picture(rt, "deadlock", "deadlock");
        break;
    case FI_INCIDENT_LONG_RUN:
        at_held(rt);
        break;
    case FI_INCIDENT_EXIT:
        write_picture(rt, NULL, "exit");
        break;
    }
}

const fi_hooks fi_observe_trace = {.begin = begin, .end = end, .incident = at_alarm};
