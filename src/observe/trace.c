/* FILCH_TRACE: a timeline of workers and fibers.
 *
 * Each worker appends events to its ring (sched/tracepoint.h) while the runtime runs.  The rings
 * are written as JSON when the runtime stops, at an incident and at the dump signal.  The workers
 * continue meanwhile.  With FILCH_TRACE_MS only the last milliseconds are written, so tracing can
 * stay on for days. */
#include "base/at_fork.h"
#include "base/clock.h"
#include "observe/observe.h"
#include "observe/trace_file.h"
#include "observe/trace_json.h"
#include "observe/vm.h"
#include "sched/worker.h"

#include <errno.h>
#include <unistd.h>

#define LONG_RUN_INTERVAL_NS INT64_C(5000000000) /* min, between two files about long runs */

/* State of the one runtime. */
typedef struct trace_state {
    bool on;
    fi_trace_file file;
    fi_clock_reading start;
    void *memory; /* of all rings and interned names */
    size_t size;
    int64_t long_run_ns; /* time of the last file about a long run; 0: none */
    fi_lock lock;        /* one writer at a time */
} trace_state;

static trace_state trace;
static pid_t first_pid; /* of the process that traced first; the child of a fork() has another */

__attribute__((constructor)) static void register_at_fork(void)
{
    fi_at_fork(FI_FORK_TRACE, &trace.lock, NULL);
}

/* ---- event rings ---- */

static fi_event_ring *ring_init(fi_event_ring *ring, fi_event_ring_slot **slots, uint32_t capacity)
{
    ring->capacity = capacity;
    ring->slots = *slots;
    *slots += capacity;
    return ring;
}

/* One ring for each worker, and one for all other threads.  An unused page of a ring takes no
 * memory. */
static int alloc_rings(fi_runtime *rt)
{
    uint32_t capacity = rt->settings.observe.trace_events;
    size_t rings = rt->n_workers + 1;
    fi_event_ring_slot *slots;
    fi_event_ring *ring;

    trace.size =
        sizeof(fi_intern) + rings * (sizeof(fi_event_ring) + capacity * sizeof(fi_event_ring_slot));
    trace.memory = fi_vm_map(trace.size);
    if (!trace.memory)
        return -ENOMEM;
    slots = trace.memory;
    ring = (fi_event_ring *)(void *)(slots + rings * capacity);
    for (unsigned i = 0; i < rt->n_workers; i++) {
        rt->workers[i].events = ring_init(ring++, &slots, capacity);
        fi_worker_add_hook(&rt->workers[i], FI_HOOK_TRACE);
    }
    rt->external_events = ring_init(ring++, &slots, capacity);
    rt->names = (fi_intern *)(void *)ring;
    return 0;
}

static void free_rings(fi_runtime *rt)
{
    for (unsigned i = 0; i < rt->n_workers; i++) {
        rt->workers[i].events = NULL;
        rt->workers[i].hook_mask &= ~(uint32_t)FI_HOOK_TRACE;
    }
    rt->external_events = NULL;
    rt->names = NULL;
    fi_vm_unmap(trace.memory, trace.size);
}

/* ---- files ---- */

/* The suffix is part of the file's name; NULL: no suffix. */
static void write_file(fi_runtime *rt, const char *suffix, const char *reason)
{
    int fd;

    fi_lock_lock(&trace.lock);
    fd = fi_trace_file_open(&trace.file, suffix);
    if (fd >= 0) {
        const fi_trace_request request = {trace.start, rt->settings.observe.trace_ns, reason, fd};
        fi_output_close(&trace.file.output, fi_trace_write_json(rt, &request));
    }
    fi_lock_unlock(&trace.lock);
}

/* ---- hooks ---- */

/* A program must not fail because it cannot be observed. */
static int trace_begin(fi_runtime *rt)
{
    const char *setting = rt->settings.observe.trace;
    pid_t pid = getpid();
    int e;

    trace = (trace_state){.on = false};
    if (!setting)
        return 0;
    first_pid = first_pid ? first_pid : pid;
    e = fi_trace_file_name(&trace.file, setting, pid, first_pid, rt->number);
    if (e == 0)
        e = fi_output_check(&trace.file.output);
    if (e == 0) {
        e = alloc_rings(rt);
        if (e < 0)
            fi_output_error("FILCH_TRACE", setting, e);
    }
    trace.on = e == 0;
    fi_clock_ticks_to_ns(0); /* calibrate the clock now: the first call is slow */
    trace.start = fi_clock_read_both();
    return 0;
}

static void trace_end(fi_runtime *rt, bool has_run)
{
    if (!trace.on)
        return;
    trace.on = false;
    if (has_run)
        write_file(rt, NULL, "stop");
    free_rings(rt);
}

/* Long runs can be frequent.  They are written only with FILCH_TRACE_MS, and not too often. */
static void trace_long_run(fi_runtime *rt)
{
    int64_t ns = fi_clock_now();

    if (rt->settings.observe.trace_ns == 0 ||
        (trace.long_run_ns && ns - trace.long_run_ns < LONG_RUN_INTERVAL_NS))
        return;
    write_file(rt, "long_run", "long_run");
    trace.long_run_ns = fi_clock_now();
}

static void trace_incident(fi_runtime *rt, fi_incident incident)
{
    if (!trace.on || rt->in_fork_child)
        return;
    switch (incident) {
    case FI_INCIDENT_SIGNAL:
        write_file(rt, "signal", "signal");
        break;
    case FI_INCIDENT_DEADLOCK:
        write_file(rt, "deadlock", "deadlock");
        break;
    case FI_INCIDENT_LONG_RUN:
        trace_long_run(rt);
        break;
    case FI_INCIDENT_EXIT:
        write_file(rt, NULL, "exit");
        break;
    }
}

const fi_observer fi_observe_trace = {
    .begin = trace_begin, .end = trace_end, .incident = trace_incident};
