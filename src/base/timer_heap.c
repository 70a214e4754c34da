#include "base/timer_heap.h"

#include "base/compiler.h"
#include "base/mem.h"

#include <errno.h>
#include <string.h>

#define AT_ONCE      64u /* of those that are due: others may want the lock */
#define CAPACITY_MIN 64u
#define CHILDREN     4u

enum { TO_COME = 1, OVER }; /* fired */

void fi_timer_heap_init(fi_timer_heap *ts)
{
    memset(ts, 0, sizeof *ts);
    fi_lock_init(&ts->lock);
    fi_atomic_init(&ts->next_ns, FI_TIMER_NEVER);
}

static void free_arrays(const fi_timer_heap *ts)
{
    if (ts->heap)
        FI_DELETE_ARRAY(fi_timer_entry, ts->heap, ts->capacity);
    if (ts->places)
        FI_DELETE_ARRAY(fi_timer_place, ts->places, ts->capacity);
}

void fi_timer_heap_fini(fi_timer_heap *ts)
{
    free_arrays(ts);
    ts->heap = NULL;
    ts->places = NULL;
}

/* ---- the heap, under the lock ---- */

static void rise(fi_timer_entry *heap, uint32_t at, fi_timer_entry e)
{
    while (at > 0 && e.deadline_ns < heap[(at - 1) / CHILDREN].deadline_ns) {
        heap[at] = heap[(at - 1) / CHILDREN];
        at = (at - 1) / CHILDREN;
    }
    heap[at] = e;
}

static uint32_t earliest_child(const fi_timer_entry *heap, uint32_t n, uint32_t of)
{
    uint32_t first = of * CHILDREN + 1, best = first;

    for (uint32_t i = first + 1; i < first + CHILDREN && i < n; i++)
        if (heap[i].deadline_ns < heap[best].deadline_ns)
            best = i;
    return best;
}

static void sink(fi_timer_entry *heap, uint32_t n, uint32_t at, fi_timer_entry e)
{
    while (at * CHILDREN + 1 < n) {
        uint32_t child = earliest_child(heap, n, at);
        if (e.deadline_ns <= heap[child].deadline_ns)
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = e;
}

/* ---- places, under the lock ---- */

static void make_empty(fi_timer_heap *ts, uint32_t place)
{
    ts->places[place].next_empty = ts->empty;
    ts->empty = place + 1;
}

static uint32_t take_empty(fi_timer_heap *ts)
{
    uint32_t place = ts->empty - 1;

    ts->empty = (uint32_t)ts->places[place].next_empty;
    return place;
}

/* The first entry is out of the heap; its timer, NULL: that was removed. */
static fi_timer *take_first(fi_timer_heap *ts)
{
    uint32_t place = ts->heap[0].place;
    fi_timer *t = ts->places[place].timer;

    ts->n--;
    if (ts->n > 0)
        sink(ts->heap, ts->n, 0, ts->heap[ts->n]);
    make_empty(ts, place);
    if (!t)
        ts->removed--;
    return t;
}

/* The first of those that were not removed is to be seen. */
static void note_next(fi_timer_heap *ts)
{
    while (ts->n > 0 && !ts->places[ts->heap[0].place].timer)
        take_first(ts);
    fi_store_relaxed(&ts->next_ns, ts->n > 0 ? ts->heap[0].deadline_ns : FI_TIMER_NEVER);
}

/* All entries of timers that were removed go.  As often as there are many of them, which costs each one a little. */
static void sweep(fi_timer_heap *ts)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < ts->n; i++)
        if (ts->places[ts->heap[i].place].timer)
            ts->heap[n++] = ts->heap[i];
        else
            make_empty(ts, ts->heap[i].place);
    ts->n = n;
    ts->removed = 0;
    for (uint32_t i = n / CHILDREN + 1; i-- > 0;)
        if (i < n)
            sink(ts->heap, n, i, ts->heap[i]);
}

static int grow(fi_timer_heap *ts)
{
    uint32_t old = ts->capacity;
    fi_timer_heap more = {.capacity = old > 0 ? 2 * old : CAPACITY_MIN};

    if (more.capacity <= old)
        return -ENOMEM;
    more.heap = FI_NEW_ARRAY(fi_timer_entry, more.capacity);
    more.places = FI_NEW_ARRAY(fi_timer_place, more.capacity);
    if (!more.heap || !more.places) {
        free_arrays(&more);
        return -ENOMEM;
    }
    if (old > 0) {
        memcpy(more.heap, ts->heap, ts->n * sizeof *ts->heap);
        memcpy(more.places, ts->places, old * sizeof *ts->places);
    }
    free_arrays(ts);
    ts->heap = more.heap;
    ts->places = more.places;
    ts->capacity = more.capacity;
    for (uint32_t i = more.capacity; i-- > old;)
        make_empty(ts, i);
    return 0;
}

/* A negative time is stored as 0, which has passed as well.  Negative times have other meanings for
 * a sleeper that waits for the next timer (FI_POLL_NOW). */
static int64_t due_at(const fi_timer *t)
{
    return t->deadline_ns > 0 ? t->deadline_ns : 0;
}

static int add(fi_timer_heap *ts, fi_timer *t)
{
    uint32_t place;

    if (ts->n == ts->capacity && grow(ts) < 0)
        return -ENOMEM;
    place = take_empty(ts);
    ts->places[place].timer = t;
    t->place = place + 1;
    fi_store_relaxed(&t->fired, 0u);
    rise(ts->heap, ts->n++, (fi_timer_entry){due_at(t), place});
    note_next(ts);
    return ts->heap[0].place == place;
}

/* ---- for all ---- */

int fi_timer_heap_add(fi_timer_heap *ts, fi_timer *t)
{
    int e;

    fi_lock_lock(&ts->lock);
    e = add(ts, t);
    fi_lock_unlock(&ts->lock);
    return e;
}

static void forget(fi_timer_heap *ts, fi_timer *t)
{
    ts->places[t->place - 1].timer = NULL;
    t->place = 0;
    ts->removed++;
    if (ts->removed > ts->n / 2 && ts->n > CAPACITY_MIN)
        sweep(ts);
    note_next(ts);
}

/* <- timer_heap.fired: what fire() did last with the timer, before its memory is something else. */
static uint32_t look(fi_timer *t)
{
    return fi_load_acquire(&t->fired, timer_heap.over);
}

bool fi_timer_heap_remove(fi_timer_heap *ts, fi_timer *t)
{
    bool in_time;

    if (look(t) == OVER)
        return false;
    fi_lock_lock(&ts->lock);
    in_time = t->place != 0;
    if (in_time)
        forget(ts, t);
    fi_lock_unlock(&ts->lock);
    while (look(t) == TO_COME)
        fi_thread_yield();
    return in_time;
}

static bool is_due(const fi_timer_heap *ts, int64_t now_ns)
{
    return ts->n > 0 && ts->heap[0].deadline_ns <= now_ns;
}

/* Nobody has been at most of them for long: their memory is on its way while the heap is put in order. */
static uint32_t take_out(fi_timer_heap *ts, int64_t now_ns, fi_timer **due)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < AT_ONCE && is_due(ts, now_ns); i++) {
        fi_timer *t = take_first(ts);
        FI_PREFETCH(t);
        if (t)
            due[n++] = t;
    }
    note_next(ts);
    return n;
}

/* As a list. */
static fi_timer *take_due(fi_timer_heap *ts, int64_t now_ns)
{
    fi_timer *due[AT_ONCE], *list = NULL;
    uint32_t n;

    fi_lock_lock(&ts->lock);
    n = take_out(ts, now_ns, due);
    while (n > 0) {
        fi_timer *t = due[--n];
        t->place = 0;
        fi_store_relaxed(&t->fired, TO_COME);
        t->next_due = list;
        list = t;
    }
    fi_lock_unlock(&ts->lock);
    return list;
}

/* -> timer_heap.over */
void fi_timer_heap_fire(fi_timer_heap *ts, int64_t now_ns)
{
    fi_timer *due;

    while ((due = take_due(ts, now_ns)) != NULL)
        while (due) {
            fi_timer *t = due;
            due = t->next_due;
            t->fire(t);
            fi_store_release(&t->fired, OVER, timer_heap.fired);
        }
}
