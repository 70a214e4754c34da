/* A trace has two groups of rows.
 *
 * The first group has a row for each worker: the fibers that it runs, sleep, search, polling,
 * timers. It also has a row for each other thread that makes blocking calls or wakes fibers.  The
 * second group has a row for each fiber that has waited: when it ran, what it waited for, and how
 * long it was ready.
 *
 * The first event of a ring can be any event, because older ones were overwritten.  Clocks of two
 * CPUs may differ slightly.  So no event requires that an earlier one was seen. */
#include "observe/trace_json.h"

#include "base/clock.h"
#include "observe/chrome_events.h"
#include "observe/trace_entities.h"
#include "observe/trace_merge.h"
#include "observe/trace_names.h"
#include "observe/vm.h"
#include "sched/tracepoint.h"

#include <errno.h>
#include <filch/version.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SLICES_MAX 4
#define PIDS_MAX   4194304u /* PID_MAX_LIMIT of Linux; no thread has a larger ID */
#define COUNTER_NS 5000     /* min, between two values of a counter */
#define COUNTERS   3
#define TEXT_SIZE  160
#define ORDER_LAST 1000000000u

typedef enum activity { RUNS, SLEEPS, SEARCHES, POLLS, FIRES } activity;
static const char *const activity_names[] = {"runs", "asleep", "search", "poll", "timers"};
static const char *const activity_colors[] = {"", "grey", "yellow", "vsync_highlight_color",
                                              "vsync_highlight_color"};

typedef struct open_slice {
    activity what;
    int64_t since_ns;
    uint64_t fiber; /* the running fiber */
} open_slice;

typedef struct worker_row {
    fi_chrome_row at;
    open_slice open[SLICES_MAX]; /* a stack: each is inside the one before */
    unsigned depth;
    bool is_truncated; /* its activity at the start of the ring is unknown */
    int64_t begins_ns;
    uint64_t lengths; /* of its queues, as written last */
} worker_row;

/* Written when the value has changed, at most every COUNTER_NS. */
typedef struct counter {
    const char *name, *unit;
    uint64_t value, written;
    int64_t written_ns;
} counter;
enum { READY, ASLEEP, STOLEN };

typedef struct json_writer {
    fi_runtime *rt;
    const fi_trace_request *request;
    uint64_t group, fibers_group;
    int64_t end_ns;
    fi_trace_merge merge;
    fi_trace_entities fibers, threads;
    counter counters[COUNTERS];
    worker_row *workers;
    fi_trace_names names;
    char text[TEXT_SIZE];
    int error;
    fi_chrome out;
} json_writer;

static int64_t event_ns(const json_writer *p, uint64_t ticks)
{
    return ticks > p->request->start.ticks ? fi_clock_ticks_to_ns(ticks - p->request->start.ticks)
                                           : 0;
}

static const char *fiber_name(json_writer *p, const fi_trace_entity *f)
{
    return fi_trace_names_fiber(&p->names, p->rt, &f->traced);
}

/* ---- counters ---- */

static void write_counter(json_writer *p, counter *c, int64_t ns)
{
    c->written = c->value;
    c->written_ns = ns;
    if (fi_chrome_counter(&p->out, p->group, ns, c->name)) {
        fi_chrome_arg_number(&p->out, c->unit, c->value);
        fi_chrome_end(&p->out);
    }
}

static void write_counters(json_writer *p, int64_t ns, bool all)
{
    for (int i = 0; i < COUNTERS; i++) {
        counter *c = &p->counters[i];
        if (all || (c->value != c->written && ns - c->written_ns >= COUNTER_NS))
            write_counter(p, c, ns);
    }
}

static void write_queue_lengths(json_writer *p, unsigned worker, uint64_t lengths, int64_t ns)
{
    worker_row *w = &p->workers[worker];

    if (lengths == w->lengths)
        return;
    w->lengths = lengths;
    snprintf(p->text, sizeof p->text, "queues of worker %u", worker);
    if (fi_chrome_counter(&p->out, p->group, ns, p->text)) {
        fi_chrome_arg_number(&p->out, "ready fibers", (uint32_t)lengths);
        fi_chrome_arg_number(&p->out, "tasks and new fibers", lengths >> 32);
        fi_chrome_end(&p->out);
    }
}

/* ---- fibers ---- */

static fi_trace_entity *event_fiber(json_writer *p, uint64_t head)
{
    fi_trace_id t = fi_trace_id_of_head(head);
    fi_trace_entity *f = t.id ? fi_trace_entities_get(&p->fibers, t.id) : NULL;

    if (!f) {
        p->error = t.id ? -ENOMEM : p->error;
        return NULL;
    }
    t.function = f->traced.function;
    f->traced = t;
    return f;
}

static fi_chrome_row fiber_row(const json_writer *p, const fi_trace_entity *f)
{
    return (fi_chrome_row){p->fibers_group, f->id};
}

static void fiber_add_row(json_writer *p, fi_trace_entity *f)
{
    if (f->has_row)
        return;
    f->has_row = true;
    snprintf(p->text, sizeof p->text, "%s", fiber_name(p, f));
    fi_chrome_row_name(&p->out, fiber_row(p, f), p->text, f->id);
}

static const char *state_text(json_writer *p, const fi_trace_entity *f)
{
    if (f->state == FI_TRACE_STATE_RUNS)
        return "runs";
    if (f->state == FI_TRACE_STATE_READY)
        return "ready";
    if (strcmp(f->wait_kind, "sleep") == 0)
        return "sleeps";
    snprintf(p->text, sizeof p->text, "waits for %s", f->wait_kind);
    return p->text;
}

/* A small number is a file descriptor, not an address. */
static void write_object(fi_chrome *d, uint64_t object)
{
    char text[24];

    snprintf(text, sizeof text, object < 1u << 20 ? "%" PRIu64 : "0x%" PRIx64, object);
    fi_chrome_arg_text(d, "object", text);
}

static void write_fiber_state(json_writer *p, const fi_trace_entity *f, int64_t until_ns)
{
    static const char *const categories[] = {"", "run", "wait", "ready"};
    static const char *const colors[] = {"", "thread_state_running", "thread_state_sleeping",
                                         "thread_state_runnable"};

    if (!fi_chrome_slice(&p->out, fiber_row(p, f), f->since_ns, until_ns, categories[f->state],
                         state_text(p, f)))
        return;
    fi_chrome_color(&p->out, colors[f->state]);
    fi_chrome_arg_number(&p->out, "fiber", f->id);
    if (f->state == FI_TRACE_STATE_WAITS && f->object)
        write_object(&p->out, f->object);
    fi_chrome_end(&p->out);
}

static void fiber_set_state(json_writer *p, fi_trace_entity *f, fi_trace_state to, int64_t ns)
{
    if (f->has_row && f->state != FI_TRACE_STATE_UNKNOWN)
        write_fiber_state(p, f, ns);
    p->counters[READY].value -= f->state == FI_TRACE_STATE_READY;
    p->counters[READY].value += to == FI_TRACE_STATE_READY;
    f->state = to;
    f->since_ns = ns;
}

/* ---- workers' rows ---- */

static void write_run(json_writer *p, const worker_row *w, const open_slice *s, int64_t ns,
                      const char *then)
{
    static const char *const categories[] = {"fiber", "task", "job"};
    const fi_trace_entity *f = fi_trace_entities_get(&p->fibers, s->fiber);

    if (!f || !fi_chrome_slice(&p->out, w->at, s->since_ns, ns, categories[f->traced.work % 3],
                               fiber_name(p, f)))
        return;
    fi_chrome_arg_number(&p->out, "fiber", f->id);
    if (f->traced.function)
        fi_chrome_arg_text(&p->out, "function",
                           fi_trace_names_function(&p->names, f->traced.function));
    if (then)
        fi_chrome_arg_text(&p->out, "then", then);
    fi_chrome_end(&p->out);
}

static void write_slice(json_writer *p, const worker_row *w, const open_slice *s, int64_t ns,
                        const char *then)
{
    if (s->what == RUNS) {
        write_run(p, w, s, ns, then);
    } else if (fi_chrome_slice(&p->out, w->at, s->since_ns, ns, "worker",
                               activity_names[s->what])) {
        fi_chrome_color(&p->out, activity_colors[s->what]);
        if (then)
            fi_chrome_arg_text(&p->out, "then", then);
        fi_chrome_end(&p->out);
    }
}

static const open_slice *top_slice(const worker_row *w)
{
    return w->depth > 0 ? &w->open[w->depth - 1] : NULL;
}

static bool in_activity(const worker_row *w, activity what)
{
    for (unsigned i = 0; i < w->depth; i++)
        if (w->open[i].what == what)
            return true;
    return false;
}

static void pop_slice(json_writer *p, worker_row *w, int64_t ns, const char *then)
{
    const open_slice *s = &w->open[--w->depth];

    p->counters[ASLEEP].value -= s->what == SLEEPS;
    write_slice(p, w, s, ns, then);
}

static void activity_begin(json_writer *p, worker_row *w, activity what, int64_t ns, uint64_t fiber)
{
    if (w->depth == SLICES_MAX)
        return;
    w->is_truncated = false;
    w->open[w->depth++] = (open_slice){what, ns, fiber};
    p->counters[ASLEEP].value += what == SLEEPS;
}

/* End an activity and the slices inside it.  If its start was overwritten, it starts with the ring.
 * */
static void activity_end(json_writer *p, worker_row *w, activity what, int64_t ns, uint64_t fiber,
                         const char *then)
{
    if (!in_activity(w, what)) {
        open_slice s = {what, w->begins_ns, fiber};
        if (w->is_truncated)
            write_slice(p, w, &s, ns, then);
        w->is_truncated = false;
        return;
    }
    while (in_activity(w, what))
        pop_slice(p, w, ns, top_slice(w)->what == what ? then : NULL);
}

static void pop_all_slices(json_writer *p, worker_row *w, int64_t ns)
{
    while (w->depth > 0)
        pop_slice(p, w, ns, NULL);
}

/* ---- events of fibers ---- */

static void on_run(json_writer *p, worker_row *w, const fi_event *e, int64_t ns)
{
    fi_trace_entity *f = event_fiber(p, e->word[1]);

    if (!f)
        return;
    f->traced.function = e->word[2];
    pop_all_slices(p, w, ns);
    activity_begin(p, w, RUNS, ns, f->id);
    if (f->has_waker && f->state == FI_TRACE_STATE_READY)
        fi_chrome_flow(&p->out, (fi_chrome_row){p->group, f->waker_thread}, f->woken_ns, w->at, ns);
    f->has_waker = false;
    fiber_set_state(p, f, FI_TRACE_STATE_RUNS, ns);
}

static void on_stop(json_writer *p, worker_row *w, const fi_event *e, int64_t ns)
{
    fi_trace_entity *f = event_fiber(p, e->word[1]);
    const char *what = (const char *)(uintptr_t)e->word[2];
    bool yields = strcmp(what, "yield") == 0;

    if (!f)
        return;
    fiber_add_row(p, f);
    fiber_set_state(p, f, yields ? FI_TRACE_STATE_READY : FI_TRACE_STATE_WAITS, ns);
    f->wait_kind = what;
    f->object = e->word[3];
    f->has_waker = false;
    snprintf(p->text, sizeof p->text, yields ? "yields" : "waits for %s", what);
    activity_end(p, w, RUNS, ns, f->id, p->text);
}

static void on_end(json_writer *p, worker_row *w, const fi_event *e, int64_t ns)
{
    fi_trace_entity *f = event_fiber(p, e->word[1]);

    if (!f)
        return;
    fiber_set_state(p, f, FI_TRACE_STATE_UNKNOWN, ns);
    activity_end(p, w, RUNS, ns, f->id, "ends");
}

/* A flow starts in a slice, so a short one is added where there is none. */
static void write_wake_slice(json_writer *p, fi_chrome_row at, int64_t ns)
{
    if (fi_chrome_slice(&p->out, at, ns, ns + 1, "worker", "wakes"))
        fi_chrome_end(&p->out);
}

static void fiber_ready(json_writer *p, fi_chrome_row by, const fi_event *e, int64_t ns)
{
    fi_trace_entity *f = event_fiber(p, e->word[1]);

    if (!f || f->state == FI_TRACE_STATE_RUNS)
        return;
    f->has_waker = true;
    f->waker_thread = by.row;
    f->woken_ns = ns;
    fiber_set_state(p, f, FI_TRACE_STATE_READY, ns);
}

/* A worker that sleeps in the poller makes fibers ready before its own wake-up event. */
static void on_ready(json_writer *p, worker_row *w, const fi_event *e, int64_t ns)
{
    if (in_activity(w, SLEEPS)) {
        pop_all_slices(p, w, ns);
        activity_begin(p, w, POLLS, ns, 0);
    }
    if (w->depth == 0)
        write_wake_slice(p, w->at, ns);
    fiber_ready(p, w->at, e, ns);
}

/* ---- events of workers ---- */

static void on_poll(json_writer *p, const worker_row *w, const fi_event *e, int64_t ns)
{
    if (!fi_chrome_slice(&p->out, w->at, event_ns(p, e->word[2]), ns, "worker",
                         activity_names[POLLS]))
        return;
    fi_chrome_color(&p->out, activity_colors[POLLS]);
    fi_chrome_arg_number(&p->out, "events", e->word[3]);
    fi_chrome_end(&p->out);
}

static void on_steal(json_writer *p, const worker_row *w, const fi_event *e, int64_t ns)
{
    p->counters[STOLEN].value += e->word[3];
    snprintf(p->text, sizeof p->text, "steals %" PRIu64 " from worker %" PRIu64, e->word[3],
             e->word[2]);
    if (fi_chrome_instant(&p->out, w->at, ns, p->text))
        fi_chrome_end(&p->out);
}

static void on_publish(json_writer *p, const worker_row *w, const fi_event *e, int64_t ns)
{
    snprintf(p->text, sizeof p->text, "publishes %" PRIu64, e->word[2]);
    if (fi_chrome_instant(&p->out, w->at, ns, p->text))
        fi_chrome_end(&p->out);
}

static void on_woken(json_writer *p, worker_row *w, int64_t ns)
{
    activity_end(p, w, in_activity(w, POLLS) ? POLLS : SLEEPS, ns, 0, NULL);
}

static void on_worker_event(json_writer *p, unsigned worker, const fi_event *e, int64_t ns)
{
    worker_row *w = &p->workers[worker];

    switch (fi_trace_event_of_head(e->word[1])) {
    case FI_TRACE_BEGIN:
    case FI_TRACE_RUN:
        write_queue_lengths(p, worker, e->word[3], ns);
        on_run(p, w, e, ns);
        break;
    case FI_TRACE_STOP:
        on_stop(p, w, e, ns);
        break;
    case FI_TRACE_END:
        on_end(p, w, e, ns);
        break;
    case FI_TRACE_NAME:
        event_fiber(p, e->word[1]);
        break;
    case FI_TRACE_READY:
        on_ready(p, w, e, ns);
        break;
    case FI_TRACE_PUBLISH:
        on_publish(p, w, e, ns);
        break;
    case FI_TRACE_STEAL:
        on_steal(p, w, e, ns);
        break;
    case FI_TRACE_SLEEP:
    case FI_TRACE_CALLER_RUNS_END:
        pop_all_slices(p, w, ns);
        activity_begin(p, w, SLEEPS, ns, 0);
        break;
    case FI_TRACE_WOKEN:
    case FI_TRACE_CALLER_RUNS:
        on_woken(p, w, ns);
        break;
    case FI_TRACE_SEARCH:
        activity_begin(p, w, SEARCHES, ns, 0);
        break;
    case FI_TRACE_SEARCH_END:
        activity_end(p, w, SEARCHES, ns, 0, e->word[2] ? "finds work" : "finds nothing");
        break;
    case FI_TRACE_POLL:
        on_poll(p, w, e, ns);
        break;
    case FI_TRACE_TIMERS:
        activity_begin(p, w, FIRES, ns, 0);
        break;
    case FI_TRACE_TIMERS_END:
        activity_end(p, w, FIRES, ns, 0, NULL);
        break;
    default: /* events of other threads */
        break;
    }
}

/* ---- events of other threads ---- */

static fi_trace_entity *event_thread(json_writer *p, uint64_t thread)
{
    fi_trace_entity *t = fi_trace_entities_get(&p->threads, thread);

    if (!t) {
        p->error = -ENOMEM;
        return NULL;
    }
    if (!t->has_row) {
        t->has_row = true;
        snprintf(p->text, sizeof p->text, "thread %" PRIu64, thread);
        fi_chrome_row_name(&p->out, (fi_chrome_row){p->group, thread}, p->text, ORDER_LAST);
    }
    return t;
}

static void write_blocking_call(json_writer *p, const fi_trace_entity *t, int64_t ns)
{
    if (t->state != FI_TRACE_STATE_RUNS ||
        !fi_chrome_slice(&p->out, (fi_chrome_row){p->group, t->id}, t->since_ns, ns, "blocking",
                         fi_trace_names_function(&p->names, t->traced.function)))
        return;
    fi_chrome_arg_text(&p->out, "call", "blocking call of a fiber that waits");
    fi_chrome_end(&p->out);
}

static void on_thread_event(json_writer *p, const fi_event *e, int64_t ns)
{
    fi_trace_entity *t = event_thread(p, e->word[2]);

    if (!t)
        return;
    switch (fi_trace_event_of_head(e->word[1])) {
    case FI_TRACE_BLOCK:
        t->state = FI_TRACE_STATE_RUNS;
        t->since_ns = ns;
        t->traced.function = e->word[3];
        break;
    case FI_TRACE_BLOCK_END:
        write_blocking_call(p, t, ns);
        t->state = FI_TRACE_STATE_UNKNOWN;
        break;
    case FI_TRACE_READY:
        if (t->state != FI_TRACE_STATE_RUNS)
            write_wake_slice(p, (fi_chrome_row){p->group, t->id}, ns);
        fiber_ready(p, (fi_chrome_row){p->group, t->id}, e, ns);
        break;
    default:
        break;
    }
}

/* ---- the document ---- */

/* A worker has a thread ID only after its thread has started. */
static uint64_t worker_row_id(fi_worker *w)
{
    int tid = fi_load_relaxed(&w->tid);

    return tid ? (uint64_t)tid : PIDS_MAX + w->index;
}

static void write_overwritten(json_writer *p, const worker_row *w, uint64_t overwritten)
{
    int64_t ns = w->begins_ns > p->out.from_ns ? w->begins_ns : p->out.from_ns;

    snprintf(p->text, sizeof p->text, "%" PRIu64 " older events were overwritten", overwritten);
    if (fi_chrome_instant(&p->out, w->at, ns, p->text))
        fi_chrome_end(&p->out);
}

/* A worker starts asleep. */
static void write_worker_begin(json_writer *p, unsigned i)
{
    const fi_trace_track *t = &p->merge.tracks[i];
    worker_row *w = &p->workers[i];

    w->at = (fi_chrome_row){p->group, worker_row_id(&p->rt->workers[i])};
    snprintf(p->text, sizeof p->text, "worker %u", i);
    fi_chrome_row_name(&p->out, w->at, p->text, i);
    w->lengths = UINT64_MAX;
    if (t->overwritten == 0) {
        activity_begin(p, w, SLEEPS, 0, 0);
        return;
    }
    w->is_truncated = true;
    w->begins_ns = t->at < t->n ? event_ns(p, t->events[t->at].word[0]) : 0;
    write_overwritten(p, w, t->overwritten);
}

static void write_begin(json_writer *p)
{
    snprintf(p->text, sizeof p->text, "%s: workers", p->rt->settings.name);
    fi_chrome_group_name(&p->out, p->group, p->text, 0);
    snprintf(p->text, sizeof p->text, "%s: fibers that wait", p->rt->settings.name);
    fi_chrome_group_name(&p->out, p->fibers_group, p->text, 1);
    for (unsigned i = 0; i < p->rt->n_workers; i++)
        write_worker_begin(p, i);
}

/* Slices that are still open end at the end of the trace. */
static void write_end(json_writer *p)
{
    for (unsigned i = 0; i < p->rt->n_workers; i++)
        pop_all_slices(p, &p->workers[i], p->end_ns);
    for (size_t i = 0; i < p->fibers.capacity; i++)
        if (p->fibers.table[i].id)
            fiber_set_state(p, &p->fibers.table[i], FI_TRACE_STATE_UNKNOWN, p->end_ns);
    for (size_t i = 0; i < p->threads.capacity; i++)
        if (p->threads.table[i].id)
            write_blocking_call(p, &p->threads.table[i], p->end_ns);
    write_counters(p, p->end_ns, true);
}

static void write_events(json_writer *p)
{
    const fi_event *e;
    unsigned track;

    write_begin(p);
    while ((e = fi_trace_merge_next(&p->merge, &track)) != NULL) {
        int64_t ns = event_ns(p, e->word[0]);
        if (track < p->rt->n_workers)
            on_worker_event(p, track, e, ns);
        else
            on_thread_event(p, e, ns);
        write_counters(p, ns, false);
    }
    write_end(p);
}

static uint64_t overwritten(const json_writer *p)
{
    uint64_t n = 0;

    for (unsigned i = 0; i < p->merge.n_tracks; i++)
        n += p->merge.tracks[i].overwritten;
    return n;
}

/* Two readings of both clocks, from which a reader converts times of the trace to CLOCK_MONOTONIC.
 * Ticks and CLOCK_MONOTONIC differ by some microseconds per second. */
static void write_clock(const json_writer *p, fi_json *j)
{
    fi_clock_reading end = fi_clock_read_both();

    fi_json_raw(j, ",\"start ns\":");
    fi_json_number(j, (uint64_t)p->request->start.ns);
    fi_json_raw(j, ",\"end ns\":");
    fi_json_number(j, (uint64_t)end.ns);
    fi_json_raw(j, ",\"length ns\":");
    fi_json_number(j, (uint64_t)event_ns(p, end.ticks));
}

static void write_head(json_writer *p)
{
    static const char *const clocks[] = {"", "CLOCK_MONOTONIC", "TSC", "CNTVCT"};
    fi_json *j = &p->out.json;

    fi_json_raw(j, "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"made by\":\"Filch " FILCH_VERSION
                   "\",\"reason\":");
    fi_json_string(j, p->request->reason);
    fi_json_raw(j, ",\"clock\":");
    fi_json_string(j, clocks[fi_clock_source()]);
    write_clock(p, j);
    fi_json_raw(j, ",\"workers\":");
    fi_json_number(j, p->rt->n_workers);
    fi_json_raw(j, ",\"events overwritten\":");
    fi_json_number(j, overwritten(p));
    fi_json_raw(j, "},\"traceEvents\":[");
}

static void write_document(json_writer *p)
{
    p->end_ns = event_ns(p, p->merge.ticks);
    p->out.json.fd = p->request->fd;
    if (p->request->last_ns > 0 && p->end_ns > p->request->last_ns)
        p->out.from_ns = p->end_ns - p->request->last_ns;
    write_head(p);
    write_events(p);
    fi_json_raw(&p->out.json, "\n]}\n");
    fi_json_flush(&p->out.json);
}

static int writer_run(json_writer *p, size_t rows_size)
{
    int e = fi_trace_merge_init(&p->merge, p->rt);

    if (e < 0)
        return e;
    p->workers = fi_vm_map(rows_size);
    if (p->workers)
        write_document(p);
    else
        p->error = -ENOMEM;
    fi_vm_unmap(p->workers, rows_size);
    fi_trace_entities_free(&p->fibers);
    fi_trace_entities_free(&p->threads);
    fi_trace_merge_free(&p->merge);
    return p->error ? p->error : p->out.json.error;
}

int fi_trace_write_json(fi_runtime *rt, const fi_trace_request *request)
{
    json_writer *p = fi_vm_map(sizeof *p);
    int e;

    if (!p)
        return -ENOMEM;
    p->rt = rt;
    p->request = request;
    p->group = (uint64_t)getpid();
    p->fibers_group = p->group + PIDS_MAX;
    p->counters[READY] = (counter){.name = "ready fibers", .unit = "fibers"};
    p->counters[ASLEEP] = (counter){.name = "workers asleep", .unit = "workers"};
    p->counters[STOLEN] = (counter){.name = "stolen", .unit = "items"};
    e = writer_run(p, rt->n_workers * sizeof *p->workers);
    fi_vm_unmap(p, sizeof *p);
    return e;
}
