#include "observe/trace_copy.h"

#include "base/clock.h"
#include "observe/pages.h"
#include "sched/worker.h"

#include <errno.h>

static fi_event_ring *log_of(fi_runtime *rt, unsigned track)
{
    return track < rt->n_workers ? rt->workers[track].events : rt->external_events;
}

/* ---- copying ---- */

/* What is whole stands at the end. */
static void copy(fi_trace_track *t, fi_event_ring *log, fi_event *to, uint64_t before)
{
    uint64_t n = fi_event_ring_count(log), from = n > log->capacity ? n - log->capacity : 0, first;

    for (uint64_t i = from; i < n; i++)
        fi_event_ring_read(log, i, &to[i - from]);
    first = fi_event_ring_first_valid(log);
    if (first > n)
        first = n;
    t->events = to;
    t->at = first > from ? first - from : 0;
    t->n = n - from;
    t->lost = from + t->at;
    while (t->n > t->at && to[t->n - 1].word[0] > before)
        t->n--;
}

static size_t bytes_of(fi_runtime *rt, unsigned tracks)
{
    size_t bytes = tracks * (sizeof(fi_trace_track) + sizeof(unsigned) + sizeof(uint64_t));

    for (unsigned i = 0; i < tracks; i++)
        bytes += log_of(rt, i)->capacity * sizeof(fi_event);
    return bytes;
}

/* ---- the order ---- */

static uint64_t next_time(const fi_trace_copy *c, unsigned at)
{
    const fi_trace_track *t = &c->tracks[c->heap[at]];

    return t->events[t->at].word[0];
}

static void sink(fi_trace_copy *c, unsigned at)
{
    for (unsigned child; (child = 2 * at + 1) < c->heap_n; at = child) {
        unsigned moved = c->heap[at];
        if (child + 1 < c->heap_n && next_time(c, child + 1) < next_time(c, child))
            child++;
        if (next_time(c, at) <= next_time(c, child))
            return;
        c->heap[at] = c->heap[child];
        c->heap[child] = moved;
    }
}

static void make_heap(fi_trace_copy *c)
{
    for (unsigned i = 0; i < c->tracks_n; i++)
        if (c->tracks[i].at < c->tracks[i].n)
            c->heap[c->heap_n++] = i;
    for (unsigned i = c->heap_n; i-- > 0;)
        sink(c, i);
}

int fi_trace_copy_make(fi_trace_copy *c, fi_runtime *rt)
{
    unsigned tracks = rt->n_workers + 1;
    size_t size = bytes_of(rt, tracks);
    fi_event *events = fi_pages_get(size);

    if (!events)
        return -ENOMEM;
    *c = (fi_trace_copy){
        .tracks_n = tracks, .memory = events, .size = size, .ticks = fi_clock_ticks()};
    for (unsigned i = 0; i < tracks; i++)
        events += log_of(rt, i)->capacity;
    c->tracks = (fi_trace_track *)(void *)events;
    c->heap = (unsigned *)(void *)(c->tracks + tracks);
    events = c->memory;
    for (unsigned i = 0; i < tracks; i++) {
        copy(&c->tracks[i], log_of(rt, i), events, c->ticks);
        events += log_of(rt, i)->capacity;
    }
    make_heap(c);
    return 0;
}

void fi_trace_copy_free(fi_trace_copy *c)
{
    fi_pages_put(c->memory, c->size);
}

const fi_event *fi_trace_copy_next(fi_trace_copy *c, unsigned *track)
{
    fi_trace_track *t;
    const fi_event *e;

    if (c->heap_n == 0)
        return NULL;
    *track = c->heap[0];
    t = &c->tracks[*track];
    e = &t->events[t->at++];
    if (t->at == t->n)
        c->heap[0] = c->heap[--c->heap_n];
    sink(c, 0);
    return e;
}
