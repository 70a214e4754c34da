/* The table of path lengths. */
#include "sched/span.h"

#include "base/at_fork.h"
#include "base/clock.h"
#include "base/lock.h"
#include "base/mem.h"
#include "base/message.h"
#include "base/tls.h"
#include "sched/fiber.h"

#include <errno.h>
#include <string.h>

#define FIRST_CAPACITY 1024u /* entries; a power of two */
#define TRIES          1000

typedef struct span {
    uint64_t ticks, burdened;
} span;

typedef struct entry {
    uintptr_t key; /* 0: empty */
    span span;
} entry;

static struct {
    fi_lock lock; /* guards all that follows */
    entry *entries;
    size_t capacity, n_used;
    uint64_t burden_ticks;
    span now;           /* path of the thing that runs, up to `since` */
    span saved;         /* while it is suspended */
    uint64_t since;     /* the last read of the clock */
    bool is_running;    /* the worker runs a fiber */
    bool is_incomplete; /* the span of an object was lost */
    span external;      /* of all threads that are not workers */
    span longest;
    fi_span_sums sums;
} table;

FI_ATOMIC(uint32_t) fi_span_on;
uint64_t (*fi_span_clock)(void) = fi_clock_ticks;

/* ---- entries ---- */

static size_t entry_index(uintptr_t key)
{
    return (size_t)((key >> 4) * UINT64_C(0x9E3779B97F4A7C15) >> 20) & (table.capacity - 1);
}

/* Its entry, or the free entry where it would be. */
static entry *entry_lookup(uintptr_t key)
{
    size_t i = entry_index(key);

    while (table.entries[i].key != 0 && table.entries[i].key != key)
        i = (i + 1) & (table.capacity - 1);
    return &table.entries[i];
}

/* False: there is no memory, and the table is as before. */
static bool table_grow(size_t capacity)
{
    entry *old = table.entries, *entries = FI_NEW_ARRAY(entry, capacity);
    size_t old_capacity = table.capacity;

    if (!entries)
        return false;
    table.entries = entries;
    table.capacity = capacity;
    for (size_t i = 0; i < old_capacity; i++)
        if (old[i].key != 0)
            *entry_lookup(old[i].key) = old[i];
    if (old)
        FI_DELETE_ARRAY(entry, old, old_capacity);
    return true;
}

/* The span of an object for which there is no memory is lost. */
static entry *lose_entry(void)
{
    static entry lost;

    if (!table.is_incomplete)
        fi_message(FILCH_LEVEL_WARNING,
                   "FILCH_SCALE: no memory for the table of spans; the profile is incomplete");
    table.is_incomplete = true;
    return &lost;
}

static entry *entry_for(const void *object)
{
    entry *p = entry_lookup((uintptr_t)object);

    if (p->key != 0)
        return p;
    if (table.n_used >= table.capacity / 2) {
        if (!table_grow(table.capacity * 2))
            return lose_entry();
        p = entry_lookup((uintptr_t)object);
    }
    table.n_used++;
    p->key = (uintptr_t)object;
    p->span = (span){0};
    return p;
}

/* The entries after the gap, up to the next empty one, may have been displaced by the removed
 * entry. */
static void table_close_gap(size_t gap)
{
    size_t mask = table.capacity - 1;

    for (size_t i = (gap + 1) & mask; table.entries[i].key != 0; i = (i + 1) & mask) {
        size_t wanted = entry_index(table.entries[i].key);
        if (((i - wanted) & mask) < ((i - gap) & mask))
            continue;
        table.entries[gap] = table.entries[i];
        gap = i;
    }
    table.entries[gap].key = 0;
}

static span read_entry(const void *object)
{
    const entry *p = entry_lookup((uintptr_t)object);

    return p->key != 0 ? p->span : (span){0};
}

/* Remove the entry, and return its span. */
static span remove_entry(const void *object)
{
    entry *p = entry_lookup((uintptr_t)object);
    span out = p->span;

    if (p->key == 0)
        return (span){0};
    table.n_used--;
    table_close_gap((size_t)(p - table.entries));
    return out;
}

/* ---- spans ---- */

static span longer_span(span a, span b)
{
    if (a.ticks < b.ticks)
        a.ticks = b.ticks;
    if (a.burdened < b.burdened)
        a.burdened = b.burdened;
    return a;
}

static void entry_extend(const void *object, span p)
{
    entry *to = entry_for(object);

    to->span = longer_span(to->span, p);
}

static span add_burden(span p)
{
    p.burdened += table.burden_ticks;
    return p;
}

/* The span of the caller.  A worker that runs no fiber has none. */
static span *own_span(void)
{
    static span none;

    if (!fi_tls_worker())
        return &table.external;
    none = (span){0};
    return table.is_running ? &table.now : &none;
}

/* ---- the clock ---- */

/* Add the time since the last read of the clock to the path that runs.  The time of the update is
 * not added. */
static void span_update_begin(void)
{
    uint64_t ticks;

    fi_lock_lock(&table.lock);
    if (!table.is_running)
        return;
    ticks = fi_span_clock() - table.since;
    ticks = ticks > table.sums.clock_read_ticks ? ticks - table.sums.clock_read_ticks : 0;
    table.now.ticks += ticks;
    table.now.burdened += ticks;
    table.sums.work_ticks += ticks;
    table.sums.clock_reads++;
}

static void span_update_end(void)
{
    if (table.is_running)
        table.since = fi_span_clock();
    fi_lock_unlock(&table.lock);
}

/* Measure the cost of an update of an empty interval. */
static void span_calibrate(void)
{
    uint64_t min = UINT64_MAX;

    table.sums =
        (fi_span_sums){0}; /* the cost that an earlier runtime found must not be subtracted */
    table.is_running = true;
    for (int i = 0; i < TRIES; i++) {
        uint64_t before = table.sums.work_ticks;
        span_update_end();
        span_update_begin();
        if (i > 0 && table.sums.work_ticks - before < min)
            min = table.sums.work_ticks - before;
    }
    table.is_running = false;
    table.now = (span){0};
    table.sums = (fi_span_sums){.clock_read_ticks = min};
}

int fi_span_start(uint64_t burden_ticks)
{
    bool started;

    fi_lock_lock(&table.lock);
    started = table_grow(FIRST_CAPACITY);
    table.is_incomplete = false;
    table.burden_ticks = burden_ticks;
    if (started)
        span_calibrate();
    fi_lock_unlock(&table.lock);
    if (started)
        fi_store_relaxed(&fi_span_on, 1u);
    return started ? 0 : -ENOMEM;
}

void fi_span_read(fi_span_sums *out)
{
    span longest;

    span_update_begin();
    longest = longer_span(table.longest, table.now);
    *out = table.sums;
    out->span_ticks = longest.ticks;
    out->burdened_ticks = longest.burdened;
    span_update_end();
}

void fi_span_stop(void)
{
    fi_store_relaxed(&fi_span_on, 0u);
    fi_lock_lock(&table.lock);
    FI_DELETE_ARRAY(entry, table.entries, table.capacity);
    table.entries = NULL;
    table.capacity = table.n_used = 0;
    table.now = table.external = table.longest = (span){0};
    fi_lock_unlock(&table.lock);
}

/* [child of a fork] The entries belong to the parent. */
static void span_fork_child(void)
{
    if (fi_span_is_on())
        fi_span_stop();
}

__attribute__((constructor)) static void register_at_fork(void)
{
    fi_at_fork(FI_FORK_SPANS, &table.lock, span_fork_child);
}

/* ---- events ---- */

static const void *runnable_key(const fi_runnable *r)
{
    return r->run ? (const void *)r : (const void *)((const char *)r - offsetof(fi_fiber, ready));
}

void fi_span_inherit(const fi_runnable *r)
{
    span_update_begin();
    entry_extend(runnable_key(r), add_burden(*own_span()));
    span_update_end();
}

void fi_span_join(const void *object)
{
    span_update_begin();
    entry_extend(object, *own_span());
    span_update_end();
}

void fi_span_collect(const void *object)
{
    span *mine;

    span_update_begin();
    mine = own_span();
    *mine = longer_span(*mine, remove_entry(object));
    span_update_end();
}

void fi_span_merge_fiber(const fi_fiber *f)
{
    span *mine;

    span_update_begin();
    mine = own_span();
    *mine = longer_span(*mine, f ? read_entry(f) : table.external);
    span_update_end();
}

void fi_span_merge(const void *from, const void *to)
{
    span_update_begin();
    entry_extend(to, read_entry(from));
    span_update_end();
}

void fi_span_reset(const void *object)
{
    span_update_begin();
    remove_entry(object);
    span_update_end();
}

void fi_span_enter_fiber(const fi_fiber *f)
{
    span_update_begin();
    table.now = remove_entry(f);
    table.is_running = true;
    span_update_end();
}

void fi_span_leave_fiber(const fi_fiber *f)
{
    span_update_begin();
    entry_for(f)->span = table.now;
    table.longest = longer_span(table.longest, table.now);
    table.is_running = false;
    span_update_end();
}

void fi_span_begin_work(const fi_runnable *r)
{
    span_update_begin();
    table.now = remove_entry(r);
    table.sums.pieces++;
    span_update_end();
}

void fi_span_end_work(void)
{
    span_update_begin();
    table.longest = longer_span(table.longest, table.now);
    table.now = (span){0};
    span_update_end();
}

void fi_span_suspend(bool is_suspended)
{
    span_update_begin();
    if (is_suspended) {
        table.saved = table.now;
        table.now = (span){0};
    } else {
        table.now = table.saved;
    }
    span_update_end();
}

void fi_span_spawned(const void *slot)
{
    span_update_begin();
    entry_for(slot)->span = add_burden(table.now);
    table.sums.spawns++;
    span_update_end();
}

/* The fiber that syncs continues later from its path at the sync.  That path is kept in the entry
 * of the task. */
void fi_span_begin_task(const void *slot)
{
    span at_sync;

    span_update_begin();
    at_sync = table.now;
    table.now = remove_entry(slot);
    entry_for(slot)->span = at_sync;
    span_update_end();
}

void fi_span_end_task(const void *slot)
{
    span_update_begin();
    table.now = longer_span(table.now, remove_entry(slot));
    span_update_end();
}
