#include "base/timer_heap.h"

#include "base/compiler.h"
#include "base/mem.h"

#include <errno.h>
#include <string.h>

#define BATCH        64u /* due timers removed under the lock at a time */
#define CAPACITY_MIN 64u
#define CHILDREN     4u

enum { FIRING = 1, FIRED }; /* fi_timer.state */

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
    if (ts->slots)
        FI_DELETE_ARRAY(fi_timer_slot, ts->slots, ts->capacity);
}

void fi_timer_heap_fini(fi_timer_heap *ts)
{
    free_arrays(ts);
    ts->heap = NULL;
    ts->slots = NULL;
}

/* ---- the heap, with the lock held ---- */

static void sift_up(fi_timer_entry *heap, uint32_t at, fi_timer_entry e)
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

static void sift_down(fi_timer_entry *heap, uint32_t n, uint32_t at, fi_timer_entry e)
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

/* ---- slots, with the lock held ---- */

static void free_slot(fi_timer_heap *ts, uint32_t index)
{
    ts->slots[index].next_free = ts->free_index;
    ts->free_index = index + 1;
}

static uint32_t alloc_slot(fi_timer_heap *ts)
{
    uint32_t index = ts->free_index - 1;

    ts->free_index = (uint32_t)ts->slots[index].next_free;
    return index;
}

/* Pop the first entry.  Returns its timer.  NULL: the timer was removed. */
static fi_timer *pop_first(fi_timer_heap *ts)
{
    uint32_t index = ts->heap[0].index;
    fi_timer *t = ts->slots[index].timer;

    ts->n--;
    if (ts->n > 0)
        sift_down(ts->heap, ts->n, 0, ts->heap[ts->n]);
    free_slot(ts, index);
    if (!t)
        ts->removed--;
    return t;
}

/* Drop all removed entries.  Called when they are the majority, so the cost per removal is
 * constant. */
static void compact(fi_timer_heap *ts)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < ts->n; i++)
        if (ts->slots[ts->heap[i].index].timer)
            ts->heap[n++] = ts->heap[i];
        else
            free_slot(ts, ts->heap[i].index);
    ts->n = n;
    ts->removed = 0;
    for (uint32_t i = n / CHILDREN + 1; i-- > 0;)
        if (i < n)
            sift_down(ts->heap, n, i, ts->heap[i]);
}

/* Publish the deadline of the first entry.  If all entries are removed ones, there is no timer, and
 * none may be announced. */
static void update_next(fi_timer_heap *ts)
{
    if (ts->removed == ts->n)
        compact(ts);
    fi_store_relaxed(&ts->next_ns, ts->n > 0 ? ts->heap[0].deadline_ns : FI_TIMER_NEVER);
}

static int grow(fi_timer_heap *ts)
{
    uint32_t old = ts->capacity;
    fi_timer_heap more = {.capacity = old > 0 ? 2 * old : CAPACITY_MIN};

    if (more.capacity <= old)
        return -ENOMEM;
    more.heap = FI_NEW_ARRAY(fi_timer_entry, more.capacity);
    more.slots = FI_NEW_ARRAY(fi_timer_slot, more.capacity);
    if (!more.heap || !more.slots) {
        free_arrays(&more);
        return -ENOMEM;
    }
    if (old > 0) {
        memcpy(more.heap, ts->heap, ts->n * sizeof *ts->heap);
        memcpy(more.slots, ts->slots, old * sizeof *ts->slots);
    }
    free_arrays(ts);
    ts->heap = more.heap;
    ts->slots = more.slots;
    ts->capacity = more.capacity;
    for (uint32_t i = more.capacity; i-- > old;)
        free_slot(ts, i);
    return 0;
}

/* A negative deadline is stored as 0, which has passed as well.  Negative values have a special
 * meaning for a sleeper (FI_POLL_NOW). */
static int64_t deadline_of(const fi_timer *t)
{
    return t->deadline_ns > 0 ? t->deadline_ns : 0;
}

/* Make sure that a timer can be added, and leave the reserved memory.  A reserved timer that is in
 * the heap is counted twice, which is simple and wastes one entry.
 *
 * Invariant: entries that are not reserved timers + reserved <= capacity.  So a reserved timer that
 * is not in the heap finds a free entry. */
static int make_room(fi_timer_heap *ts)
{
    int e = ts->n + ts->reserved < ts->capacity ? 0 : grow(ts);

    if (e < 0 && ts->removed > 0) {
        compact(ts);
        update_next(ts);
        e = ts->n + ts->reserved < ts->capacity ? 0 : e;
    }
    return e;
}

static int add_timer(fi_timer_heap *ts, fi_timer *t)
{
    uint32_t index = alloc_slot(ts);

    ts->slots[index].timer = t;
    t->index = index + 1;
    fi_store_relaxed(&t->state, 0u);
    sift_up(ts->heap, ts->n++, (fi_timer_entry){deadline_of(t), index});
    update_next(ts);
    return ts->heap[0].index == index;
}

/* ---- interface ---- */

int fi_timer_heap_add(fi_timer_heap *ts, fi_timer *t)
{
    int e;

    t->heap = ts;
    fi_lock_lock(&ts->lock);
    e = make_room(ts);
    if (FI_LIKELY(e == 0))
        e = add_timer(ts, t);
    fi_lock_unlock(&ts->lock);
    return e;
}

int fi_timer_heap_add_reserved(fi_timer *t)
{
    fi_timer_heap *ts = t->heap;
    int first;

    fi_lock_lock(&ts->lock);
    first = add_timer(ts, t);
    fi_lock_unlock(&ts->lock);
    return first;
}

int fi_timer_heap_reserve(fi_timer_heap *ts)
{
    int e;

    fi_lock_lock(&ts->lock);
    e = make_room(ts);
    if (e == 0)
        ts->reserved++;
    fi_lock_unlock(&ts->lock);
    return e;
}

void fi_timer_heap_unreserve(fi_timer_heap *ts)
{
    fi_lock_lock(&ts->lock);
    ts->reserved--;
    fi_lock_unlock(&ts->lock);
}

/* A first entry that was removed stays.  In a server most timers are removed long before their
 * deadline, the earliest first, and to drop that one rebuilds a path of the heap. */
static void remove_timer(fi_timer_heap *ts, fi_timer *t)
{
    ts->slots[t->index - 1].timer = NULL;
    t->index = 0;
    ts->removed++;
    if (ts->removed > ts->n / 2 && ts->n > CAPACITY_MIN)
        compact(ts);
    update_next(ts);
}

/* <- timer_heap.fired: the accesses of fire() to the timer, before its memory is reused. */
static uint32_t timer_state(fi_timer *t)
{
    return fi_load_acquire(&t->state, timer_heap.state);
}

bool fi_timer_heap_remove(fi_timer *t)
{
    fi_timer_heap *ts = t->heap;
    bool is_pending;

    if (timer_state(t) == FIRED)
        return false;
    fi_lock_lock(&ts->lock);
    is_pending = t->index != 0;
    if (is_pending)
        remove_timer(ts, t);
    fi_lock_unlock(&ts->lock);
    while (timer_state(t) == FIRING)
        fi_thread_yield();
    return is_pending;
}

int64_t fi_timer_heap_first_live(fi_timer_heap *ts)
{
    int64_t next;

    fi_lock_lock(&ts->lock);
    while (ts->n > 0 && !ts->slots[ts->heap[0].index].timer)
        pop_first(ts);
    update_next(ts);
    next = fi_load_relaxed(&ts->next_ns);
    fi_lock_unlock(&ts->lock);
    return next;
}

static bool is_due(const fi_timer_heap *ts, int64_t now_ns)
{
    return ts->n > 0 && ts->heap[0].deadline_ns <= now_ns;
}

static uint32_t pop_due(fi_timer_heap *ts, int64_t now_ns, fi_timer **due)
{
    uint32_t n = 0;

    while (n < BATCH && is_due(ts, now_ns)) {
        fi_timer *t = pop_first(ts);
        if (t)
            due[n++] = t;
    }
    update_next(ts);
    return n;
}

/* Most due timers are not in the cache, nor are their pages in the TLB.  Without other work between
 * them the prefetches overlap.  The line before a timer has the fields of its waiter that fire()
 * reads. */
static void prefetch_due(fi_timer *const *due, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        FI_PREFETCH(due[i]);
        FI_PREFETCH((const char *)due[i] - FI_CACHE_LINE);
    }
}

/* Up to BATCH due timers as a list. */
static fi_timer *take_due(fi_timer_heap *ts, int64_t now_ns)
{
    fi_timer *due[BATCH], *list = NULL;
    uint32_t n;

    fi_lock_lock(&ts->lock);
    n = pop_due(ts, now_ns, due);
    prefetch_due(due, n);
    while (n > 0) {
        fi_timer *t = due[--n];
        t->index = 0;
        fi_store_relaxed(&t->state, FIRING);
        t->next_due = list;
        list = t;
    }
    fi_lock_unlock(&ts->lock);
    return list;
}

/* -> timer_heap.state */
void fi_timer_heap_fire(fi_timer_heap *ts, int64_t now_ns)
{
    fi_timer *due;

    while ((due = take_due(ts, now_ns)) != NULL)
        while (due) {
            fi_timer *t = due;
            due = t->next_due;
            t->fire(t);
            fi_store_release(&t->state, FIRED, timer_heap.fired);
        }
}
