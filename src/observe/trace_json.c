/* There are two groups of rows.  One has a row for each worker, with what it does: the fibers that it runs, sleep, search, polling,
 * timers; and one for each other thread that makes calls for fibers or wakes them.  The other has a row for each fiber that ever
 * waited: when it ran, what it waited for, and how long it was ready and did not run.
 *
 * A log may begin in the middle of anything, as what was before it was written over; and clocks of two processors may differ a
 * little.  So nothing relies on an event having come before. */
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

#define DEPTH_MAX   4
#define PIDS_MAX    4194304u /* of Linux: numbers from there on are nobody's */
#define COUNTER_NS  5000     /* counters are not told more often */
#define COUNTERS    3
#define TEXT_SIZE   160
#define FAR_IN_LINE 1000000000u

typedef enum doing { RUNS, SLEEPS, SEARCHES, POLLS, FIRES } doing;
static const char *const doings[] = {"runs", "asleep", "search", "poll", "timers"};
static const char *const doing_colors[] = {"", "grey", "yellow", "vsync_highlight_color",
                                           "vsync_highlight_color"};

typedef struct open_slice {
    doing what;
    int64_t since_ns;
    uint64_t fiber; /* that runs */
} open_slice;

/* Of a worker. */
typedef struct worker_row {
    fi_chrome_row at;
    open_slice open[DEPTH_MAX]; /* one in the other */
    unsigned depth;
    bool cut; /* what it did when its log begins is not known */
    int64_t begins_ns;
    uint64_t lengths; /* of its queues, as they were told last */
} worker_row;

/* Told when it has changed, but not too often. */
typedef struct counter {
    const char *name, *unit;
    uint64_t value, told;
    int64_t told_ns;
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

static int64_t time_of(const json_writer *p, uint64_t ticks)
{
    return ticks > p->request->start_ticks ? fi_clock_ticks_to_ns(ticks - p->request->start_ticks)
                                           : 0;
}

static const char *name_of(json_writer *p, const fi_trace_entity *f)
{
    return fi_trace_names_fiber(&p->names, p->rt, &f->traced);
}

/* ---- counters ---- */

static void tell_counter(json_writer *p, counter *c, int64_t ns)
{
    c->told = c->value;
    c->told_ns = ns;
    if (fi_chrome_counter(&p->out, p->group, ns, c->name)) {
        fi_chrome_arg_number(&p->out, c->unit, c->value);
        fi_chrome_end(&p->out);
    }
}

static void tell_counters(json_writer *p, int64_t ns, bool all)
{
    for (int i = 0; i < COUNTERS; i++) {
        counter *c = &p->counters[i];
        if (all || (c->value != c->told && ns - c->told_ns >= COUNTER_NS))
            tell_counter(p, c, ns);
    }
}

static void tell_lengths(json_writer *p, unsigned worker, uint64_t lengths, int64_t ns)
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

static fi_trace_entity *fiber_of(json_writer *p, uint64_t head)
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

static fi_chrome_row row_of(const json_writer *p, const fi_trace_entity *f)
{
    return (fi_chrome_row){p->fibers_group, f->id};
}

static void have_row(json_writer *p, fi_trace_entity *f)
{
    if (f->has_row)
        return;
    f->has_row = true;
    snprintf(p->text, sizeof p->text, "%s", name_of(p, f));
    fi_chrome_row_name(&p->out, row_of(p, f), p->text, f->id);
}

static const char *state_text(json_writer *p, const fi_trace_entity *f)
{
    if (f->state == FI_TRACE_STATE_RUNS)
        return "runs";
    if (f->state == FI_TRACE_STATE_READY)
        return "ready";
    if (strcmp(f->what, "sleep") == 0)
        return "sleeps";
    snprintf(p->text, sizeof p->text, "waits for %s", f->what);
    return p->text;
}

/* Small ones are descriptors. */
static void tell_object(fi_chrome *d, uint64_t object)
{
    char text[24];

    snprintf(text, sizeof text, object < 1u << 20 ? "%" PRIu64 : "0x%" PRIx64, object);
    fi_chrome_arg_text(d, "object", text);
}

static void draw_state(json_writer *p, const fi_trace_entity *f, int64_t until_ns)
{
    static const char *const categories[] = {"", "run", "wait", "ready"};
    static const char *const colors[] = {"", "thread_state_running", "thread_state_sleeping",
                                         "thread_state_runnable"};

    if (!fi_chrome_slice(&p->out, row_of(p, f), f->since_ns, until_ns, categories[f->state],
                         state_text(p, f)))
        return;
    fi_chrome_color(&p->out, colors[f->state]);
    fi_chrome_arg_number(&p->out, "fiber", f->id);
    if (f->state == FI_TRACE_STATE_WAITS && f->object)
        tell_object(&p->out, f->object);
    fi_chrome_end(&p->out);
}

static void change(json_writer *p, fi_trace_entity *f, fi_trace_state to, int64_t ns)
{
    if (f->has_row && f->state != FI_TRACE_STATE_UNKNOWN)
        draw_state(p, f, ns);
    p->counters[READY].value -= f->state == FI_TRACE_STATE_READY;
    p->counters[READY].value += to == FI_TRACE_STATE_READY;
    f->state = to;
    f->since_ns = ns;
}

/* ---- workers' rows ---- */

static void draw_run(json_writer *p, const worker_row *w, const open_slice *s, int64_t ns,
                     const char *then)
{
    static const char *const categories[] = {"fiber", "task", "job"};
    const fi_trace_entity *f = fi_trace_entities_get(&p->fibers, s->fiber);

    if (!f || !fi_chrome_slice(&p->out, w->at, s->since_ns, ns, categories[f->traced.work % 3],
                               name_of(p, f)))
        return;
    fi_chrome_arg_number(&p->out, "fiber", f->id);
    if (f->traced.function)
        fi_chrome_arg_text(&p->out, "function",
                           fi_trace_names_function(&p->names, f->traced.function));
    if (then)
        fi_chrome_arg_text(&p->out, "then", then);
    fi_chrome_end(&p->out);
}

static void draw_open(json_writer *p, const worker_row *w, const open_slice *s, int64_t ns,
                      const char *then)
{
    if (s->what == RUNS) {
        draw_run(p, w, s, ns, then);
    } else if (fi_chrome_slice(&p->out, w->at, s->since_ns, ns, "worker", doings[s->what])) {
        fi_chrome_color(&p->out, doing_colors[s->what]);
        if (then)
            fi_chrome_arg_text(&p->out, "then", then);
        fi_chrome_end(&p->out);
    }
}

static const open_slice *innermost(const worker_row *w)
{
    return w->depth > 0 ? &w->open[w->depth - 1] : NULL;
}

static bool is_doing(const worker_row *w, doing what)
{
    for (unsigned i = 0; i < w->depth; i++)
        if (w->open[i].what == what)
            return true;
    return false;
}

static void close_innermost(json_writer *p, worker_row *w, int64_t ns, const char *then)
{
    const open_slice *s = &w->open[--w->depth];

    p->counters[ASLEEP].value -= s->what == SLEEPS;
    draw_open(p, w, s, ns, then);
}

static void begin_doing(json_writer *p, worker_row *w, doing what, int64_t ns, uint64_t fiber)
{
    if (w->depth == DEPTH_MAX)
        return;
    w->cut = false;
    w->open[w->depth++] = (open_slice){what, ns, fiber};
    p->counters[ASLEEP].value += what == SLEEPS;
}

/* It ends what it does, and what it does inside of that.  If we do not know when that began, it was there at the beginning. */
static void end_doing(json_writer *p, worker_row *w, doing what, int64_t ns, uint64_t fiber,
                      const char *then)
{
    if (!is_doing(w, what)) {
        open_slice s = {what, w->begins_ns, fiber};
        if (w->cut)
            draw_open(p, w, &s, ns, then);
        w->cut = false;
        return;
    }
    while (is_doing(w, what))
        close_innermost(p, w, ns, innermost(w)->what == what ? then : NULL);
}

static void close_all(json_writer *p, worker_row *w, int64_t ns)
{
    while (w->depth > 0)
        close_innermost(p, w, ns, NULL);
}

/* ---- events of fibers ---- */

static void runs(json_writer *p, worker_row *w, const fi_event *e, int64_t ns)
{
    fi_trace_entity *f = fiber_of(p, e->word[1]);

    if (!f)
        return;
    f->traced.function = e->word[2];
    close_all(p, w, ns);
    begin_doing(p, w, RUNS, ns, f->id);
    if (f->has_waker && f->state == FI_TRACE_STATE_READY)
        fi_chrome_flow(&p->out, (fi_chrome_row){p->group, f->waker_thread}, f->woken_ns, w->at, ns);
    f->has_waker = false;
    change(p, f, FI_TRACE_STATE_RUNS, ns);
}

static void stops(json_writer *p, worker_row *w, const fi_event *e, int64_t ns)
{
    fi_trace_entity *f = fiber_of(p, e->word[1]);
    const char *what = (const char *)(uintptr_t)e->word[2];
    bool yields = strcmp(what, "yield") == 0;

    if (!f)
        return;
    have_row(p, f);
    change(p, f, yields ? FI_TRACE_STATE_READY : FI_TRACE_STATE_WAITS, ns);
    f->what = what;
    f->object = e->word[3];
    f->has_waker = false;
    snprintf(p->text, sizeof p->text, yields ? "yields" : "waits for %s", what);
    end_doing(p, w, RUNS, ns, f->id, p->text);
}

static void ends(json_writer *p, worker_row *w, const fi_event *e, int64_t ns)
{
    fi_trace_entity *f = fiber_of(p, e->word[1]);

    if (!f)
        return;
    change(p, f, FI_TRACE_STATE_UNKNOWN, ns);
    end_doing(p, w, RUNS, ns, f->id, "ends");
}

/* An arrow begins in a slice: where there is none there is a short one. */
static void draw_waker(json_writer *p, fi_chrome_row at, int64_t ns)
{
    if (fi_chrome_slice(&p->out, at, ns, ns + 1, "worker", "wakes"))
        fi_chrome_end(&p->out);
}

static void becomes_ready(json_writer *p, fi_chrome_row by, const fi_event *e, int64_t ns)
{
    fi_trace_entity *f = fiber_of(p, e->word[1]);

    if (!f || f->state == FI_TRACE_STATE_RUNS)
        return;
    f->has_waker = true;
    f->waker_thread = by.row;
    f->woken_ns = ns;
    change(p, f, FI_TRACE_STATE_READY, ns);
}

/* Who sleeps in the poller wakes others before it is awake itself. */
static void readies(json_writer *p, worker_row *w, const fi_event *e, int64_t ns)
{
    if (is_doing(w, SLEEPS)) {
        close_all(p, w, ns);
        begin_doing(p, w, POLLS, ns, 0);
    }
    if (w->depth == 0)
        draw_waker(p, w->at, ns);
    becomes_ready(p, w->at, e, ns);
}

/* ---- events of workers ---- */

static void polled(json_writer *p, const worker_row *w, const fi_event *e, int64_t ns)
{
    if (!fi_chrome_slice(&p->out, w->at, time_of(p, e->word[2]), ns, "worker", doings[POLLS]))
        return;
    fi_chrome_color(&p->out, doing_colors[POLLS]);
    fi_chrome_arg_number(&p->out, "events", e->word[3]);
    fi_chrome_end(&p->out);
}

static void stole(json_writer *p, const worker_row *w, const fi_event *e, int64_t ns)
{
    p->counters[STOLEN].value += e->word[3];
    snprintf(p->text, sizeof p->text, "steals %" PRIu64 " from worker %" PRIu64, e->word[3],
             e->word[2]);
    if (fi_chrome_instant(&p->out, w->at, ns, p->text))
        fi_chrome_end(&p->out);
}

static void published(json_writer *p, const worker_row *w, const fi_event *e, int64_t ns)
{
    snprintf(p->text, sizeof p->text, "publishes %" PRIu64, e->word[2]);
    if (fi_chrome_instant(&p->out, w->at, ns, p->text))
        fi_chrome_end(&p->out);
}

static void wakes_up(json_writer *p, worker_row *w, int64_t ns)
{
    end_doing(p, w, is_doing(w, POLLS) ? POLLS : SLEEPS, ns, 0, NULL);
}

static void by_worker(json_writer *p, unsigned worker, const fi_event *e, int64_t ns)
{
    worker_row *w = &p->workers[worker];

    switch (fi_trace_event_of_head(e->word[1])) {
    case FI_TRACE_BEGIN:
    case FI_TRACE_RUN:
        tell_lengths(p, worker, e->word[3], ns);
        runs(p, w, e, ns);
        break;
    case FI_TRACE_STOP:
        stops(p, w, e, ns);
        break;
    case FI_TRACE_END:
        ends(p, w, e, ns);
        break;
    case FI_TRACE_NAME:
        fiber_of(p, e->word[1]);
        break;
    case FI_TRACE_READY:
        readies(p, w, e, ns);
        break;
    case FI_TRACE_PUBLISH:
        published(p, w, e, ns);
        break;
    case FI_TRACE_STEAL:
        stole(p, w, e, ns);
        break;
    case FI_TRACE_SLEEP:
    case FI_TRACE_CALLER_RUNS_END:
        close_all(p, w, ns);
        begin_doing(p, w, SLEEPS, ns, 0);
        break;
    case FI_TRACE_WOKEN:
    case FI_TRACE_CALLER_RUNS:
        wakes_up(p, w, ns);
        break;
    case FI_TRACE_SEARCH:
        begin_doing(p, w, SEARCHES, ns, 0);
        break;
    case FI_TRACE_SEARCH_END:
        end_doing(p, w, SEARCHES, ns, 0, e->word[2] ? "finds work" : "finds nothing");
        break;
    case FI_TRACE_POLL:
        polled(p, w, e, ns);
        break;
    case FI_TRACE_TIMERS:
        begin_doing(p, w, FIRES, ns, 0);
        break;
    case FI_TRACE_TIMERS_END:
        end_doing(p, w, FIRES, ns, 0, NULL);
        break;
    default: /* of other threads */
        break;
    }
}

/* ---- events of other threads ---- */

static fi_trace_entity *thread_of(json_writer *p, uint64_t thread)
{
    fi_trace_entity *t = fi_trace_entities_get(&p->threads, thread);

    if (!t) {
        p->error = -ENOMEM;
        return NULL;
    }
    if (!t->has_row) {
        t->has_row = true;
        snprintf(p->text, sizeof p->text, "thread %" PRIu64, thread);
        fi_chrome_row_name(&p->out, (fi_chrome_row){p->group, thread}, p->text, FAR_IN_LINE);
    }
    return t;
}

static void blocked(json_writer *p, const fi_trace_entity *t, int64_t ns)
{
    if (t->state != FI_TRACE_STATE_RUNS ||
        !fi_chrome_slice(&p->out, (fi_chrome_row){p->group, t->id}, t->since_ns, ns, "blocking",
                         fi_trace_names_function(&p->names, t->traced.function)))
        return;
    fi_chrome_arg_text(&p->out, "call", "blocking call of a fiber that waits");
    fi_chrome_end(&p->out);
}

static void by_thread(json_writer *p, const fi_event *e, int64_t ns)
{
    fi_trace_entity *t = thread_of(p, e->word[2]);

    if (!t)
        return;
    switch (fi_trace_event_of_head(e->word[1])) {
    case FI_TRACE_BLOCK:
        t->state = FI_TRACE_STATE_RUNS;
        t->since_ns = ns;
        t->traced.function = e->word[3];
        break;
    case FI_TRACE_BLOCK_END:
        blocked(p, t, ns);
        t->state = FI_TRACE_STATE_UNKNOWN;
        break;
    case FI_TRACE_READY:
        if (t->state != FI_TRACE_STATE_RUNS)
            draw_waker(p, (fi_chrome_row){p->group, t->id}, ns);
        becomes_ready(p, (fi_chrome_row){p->group, t->id}, e, ns);
        break;
    default:
        break;
    }
}

/* ---- the whole ---- */

/* Threads of workers are known by their numbers as soon as they run. */
static uint64_t thread_of_worker(fi_worker *w)
{
    int tid = fi_load_relaxed(&w->tid);

    return tid ? (uint64_t)tid : PIDS_MAX + w->index;
}

static void tell_lost(json_writer *p, const worker_row *w, uint64_t lost)
{
    int64_t ns = w->begins_ns > p->out.from_ns ? w->begins_ns : p->out.from_ns;

    snprintf(p->text, sizeof p->text, "%" PRIu64 " older events were overwritten", lost);
    if (fi_chrome_instant(&p->out, w->at, ns, p->text))
        fi_chrome_end(&p->out);
}

/* All workers begin asleep. */
static void begin_worker(json_writer *p, unsigned i)
{
    const fi_trace_track *t = &p->merge.tracks[i];
    worker_row *w = &p->workers[i];

    w->at = (fi_chrome_row){p->group, thread_of_worker(&p->rt->workers[i])};
    snprintf(p->text, sizeof p->text, "worker %u", i);
    fi_chrome_row_name(&p->out, w->at, p->text, i);
    w->lengths = UINT64_MAX;
    if (t->overwritten == 0) {
        begin_doing(p, w, SLEEPS, 0, 0);
        return;
    }
    w->cut = true;
    w->begins_ns = t->at < t->n ? time_of(p, t->events[t->at].word[0]) : 0;
    tell_lost(p, w, t->overwritten);
}

static void begin(json_writer *p)
{
    snprintf(p->text, sizeof p->text, "%s: workers", p->rt->settings.name);
    fi_chrome_group_name(&p->out, p->group, p->text, 0);
    snprintf(p->text, sizeof p->text, "%s: fibers that wait", p->rt->settings.name);
    fi_chrome_group_name(&p->out, p->fibers_group, p->text, 1);
    for (unsigned i = 0; i < p->rt->n_workers; i++)
        begin_worker(p, i);
}

/* What is still going on ends where the json_writer ends. */
static void end(json_writer *p)
{
    for (unsigned i = 0; i < p->rt->n_workers; i++)
        close_all(p, &p->workers[i], p->end_ns);
    for (size_t i = 0; i < p->fibers.capacity; i++)
        if (p->fibers.table[i].id)
            change(p, &p->fibers.table[i], FI_TRACE_STATE_UNKNOWN, p->end_ns);
    for (size_t i = 0; i < p->threads.capacity; i++)
        if (p->threads.table[i].id)
            blocked(p, &p->threads.table[i], p->end_ns);
    tell_counters(p, p->end_ns, true);
}

static void draw(json_writer *p)
{
    const fi_event *e;
    unsigned track;

    begin(p);
    while ((e = fi_trace_merge_next(&p->merge, &track)) != NULL) {
        int64_t ns = time_of(p, e->word[0]);
        if (track < p->rt->n_workers)
            by_worker(p, track, e, ns);
        else
            by_thread(p, e, ns);
        tell_counters(p, ns, false);
    }
    end(p);
}

static uint64_t lost(const json_writer *p)
{
    uint64_t n = 0;

    for (unsigned i = 0; i < p->merge.n_tracks; i++)
        n += p->merge.tracks[i].overwritten;
    return n;
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
    fi_json_raw(j, ",\"workers\":");
    fi_json_number(j, p->rt->n_workers);
    fi_json_raw(j, ",\"events overwritten\":");
    fi_json_number(j, lost(p));
    fi_json_raw(j, "},\"traceEvents\":[");
}

static void write_all(json_writer *p)
{
    p->end_ns = time_of(p, p->merge.ticks);
    p->out.json.fd = p->request->fd;
    if (p->request->last_ns > 0 && p->end_ns > p->request->last_ns)
        p->out.from_ns = p->end_ns - p->request->last_ns;
    write_head(p);
    draw(p);
    fi_json_raw(&p->out.json, "\n]}\n");
    fi_json_flush(&p->out.json);
}

static int make(json_writer *p, size_t rows_size)
{
    int e = fi_trace_merge_init(&p->merge, p->rt);

    if (e < 0)
        return e;
    p->workers = fi_vm_map(rows_size);
    if (p->workers)
        write_all(p);
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
    e = make(p, rt->n_workers * sizeof *p->workers);
    fi_vm_unmap(p, sizeof *p);
    return e;
}
