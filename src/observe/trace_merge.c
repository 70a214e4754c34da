/* Copy the event rings, and merge them with a heap, for trace_json.c. */
#include "observe/trace_merge.h"

#include "base/clock.h"
#include "observe/vm.h"
#include "sched/worker.h"

#include <errno.h>

static fi_event_ring *track_ring(fi_runtime *rt, unsigned track)
{
    return track < rt->n_workers ? rt->workers[track].events : rt->external_events;
}

/* ---- copying ---- */

/* The owner may overwrite the oldest events during the copy.  These are skipped. */
static void copy_ring(fi_trace_track *t, fi_event_ring *ring, fi_event *to, uint64_t before)
{
    uint64_t n = fi_event_ring_count(ring), from = n > ring->capacity ? n - ring->capacity : 0,
             first;

    for (uint64_t i = from; i < n; i++)
        fi_event_ring_read(ring, i, &to[i - from]);
    first = fi_event_ring_first_valid(ring);
    if (first > n)
        first = n;
    t->events = to;
    t->at = first > from ? first - from : 0;
    t->n = n - from;
    t->overwritten = from + t->at;
    while (t->n > t->at && to[t->n - 1].word[0] > before)
        t->n--;
}

static size_t merge_size(fi_runtime *rt, unsigned tracks)
{
    size_t bytes = tracks * (sizeof(fi_trace_track) + sizeof(unsigned) + sizeof(uint64_t));

    for (unsigned i = 0; i < tracks; i++)
        bytes += track_ring(rt, i)->capacity * sizeof(fi_event);
    return bytes;
}

/* ---- merging ---- */

static uint64_t heap_key(const fi_trace_merge *c, unsigned at)
{
    const fi_trace_track *t = &c->tracks[c->heap[at]];

    return t->events[t->at].word[0];
}

static void heap_sift_down(fi_trace_merge *c, unsigned at)
{
    for (unsigned child; (child = 2 * at + 1) < c->n_heap; at = child) {
        unsigned moved = c->heap[at];
        if (child + 1 < c->n_heap && heap_key(c, child + 1) < heap_key(c, child))
            child++;
        if (heap_key(c, at) <= heap_key(c, child))
            return;
        c->heap[at] = c->heap[child];
        c->heap[child] = moved;
    }
}

static void heap_init(fi_trace_merge *c)
{
    for (unsigned i = 0; i < c->n_tracks; i++)
        if (c->tracks[i].at < c->tracks[i].n)
            c->heap[c->n_heap++] = i;
    for (unsigned i = c->n_heap; i-- > 0;)
        heap_sift_down(c, i);
}

int fi_trace_merge_init(fi_trace_merge *c, fi_runtime *rt)
{
    unsigned tracks = rt->n_workers + 1;
    size_t size = merge_size(rt, tracks);
    fi_event *events = fi_vm_map(size);

    if (!events)
        return -ENOMEM;
    *c = (fi_trace_merge){
        .n_tracks = tracks, .memory = events, .size = size, .ticks = fi_clock_ticks()};
    for (unsigned i = 0; i < tracks; i++)
        events += track_ring(rt, i)->capacity;
    c->tracks = (fi_trace_track *)(void *)events;
    c->heap = (unsigned *)(void *)(c->tracks + tracks);
    events = c->memory;
    for (unsigned i = 0; i < tracks; i++) {
        copy_ring(&c->tracks[i], track_ring(rt, i), events, c->ticks);
        events += track_ring(rt, i)->capacity;
    }
    heap_init(c);
    return 0;
}

void fi_trace_merge_free(fi_trace_merge *c)
{
    fi_vm_unmap(c->memory, c->size);
}

const fi_event *fi_trace_merge_next(fi_trace_merge *c, unsigned *track)
{
    fi_trace_track *t;
    const fi_event *e;

    if (c->n_heap == 0)
        return NULL;
    *track = c->heap[0];
    t = &c->tracks[*track];
    e = &t->events[t->at++];
    if (t->at == t->n)
        c->heap[0] = c->heap[--c->n_heap];
    heap_sift_down(c, 0);
    return e;
}
