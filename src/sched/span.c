/* The table of paths. */
#include "sched/span.h"

#include "base/at_fork.h"
#include "base/clock.h"
#include "base/fatal.h"
#include "base/lock.h"
#include "base/mem.h"
#include "base/tls.h"
#include "sched/fiber.h"

#include <string.h>

#define FIRST_CAPACITY 1024u /* entries; a power of two */
#define TRIES          1000

typedef struct span {
    uint64_t ticks, burdened;
} span;

typedef struct entry {
    uintptr_t of; /* 0: empty */
    span span;
} entry;

static struct {
    fi_lock lock; /* guards all that follows */
    entry *entries;
    size_t capacity, used;
    uint64_t burden_ticks;
    span now;       /* of what runs, until the last look at the clock */
    span saved;     /* while it is hidden */
    uint64_t since; /* that look */
    bool runs;      /* a fiber, on the one worker */
    span external;  /* of all threads that are no workers */
    span longest;
    fi_span_sums sums;
} table;

FI_ATOMIC(uint32_t) fi_span_on;
uint64_t (*fi_span_clock)(void) = fi_clock_ticks;

/* ---- entries ---- */

static size_t slot_of(uintptr_t of)
{
    return (size_t)((of >> 4) * UINT64_C(0x9E3779B97F4A7C15) >> 20) & (table.capacity - 1);
}

/* Where its entry is, or would be. */
static entry *lookup(uintptr_t of)
{
    size_t i = slot_of(of);

    while (table.entries[i].of != 0 && table.entries[i].of != of)
        i = (i + 1) & (table.capacity - 1);
    return &table.entries[i];
}

static void grow(size_t capacity)
{
    entry *old = table.entries;
    size_t old_room = table.capacity;

    table.entries = FI_NEW_ARRAY(entry, capacity);
    if (!table.entries)
        fi_fatal("no memory to follow the longest chain of work (FILCH_SCALE)");
    table.capacity = capacity;
    for (size_t i = 0; i < old_room; i++)
        if (old[i].of != 0)
            *lookup(old[i].of) = old[i];
    if (old)
        FI_DELETE_ARRAY(entry, old, old_room);
}

static entry *entry_for(const void *what)
{
    entry *p = lookup((uintptr_t)what);

    if (p->of != 0)
        return p;
    if (++table.used > table.capacity / 2) {
        grow(table.capacity * 2);
        p = lookup((uintptr_t)what);
    }
    p->of = (uintptr_t)what;
    p->span = (span){0};
    return p;
}

/* Those behind it, up to the next empty entry, may have been pushed there by it. */
static void close_gap(size_t gap)
{
    size_t mask = table.capacity - 1;

    for (size_t i = (gap + 1) & mask; table.entries[i].of != 0; i = (i + 1) & mask) {
        size_t wanted = slot_of(table.entries[i].of);
        if (((i - wanted) & mask) < ((i - gap) & mask))
            continue;
        table.entries[gap] = table.entries[i];
        gap = i;
    }
    table.entries[gap].of = 0;
}

static span read_entry(const void *what)
{
    const entry *p = lookup((uintptr_t)what);

    return p->of != 0 ? p->span : (span){0};
}

/* And there is no entry of it any more. */
static span remove_entry(const void *what)
{
    entry *p = lookup((uintptr_t)what);
    span out = p->span;

    if (p->of == 0)
        return (span){0};
    table.used--;
    close_gap((size_t)(p - table.entries));
    return out;
}

/* ---- paths ---- */

static span longer(span a, span b)
{
    if (a.ticks < b.ticks)
        a.ticks = b.ticks;
    if (a.burdened < b.burdened)
        a.burdened = b.burdened;
    return a;
}

static void write_longer(const void *what, span p)
{
    entry *to = entry_for(what);

    to->span = longer(to->span, p);
}

static span taken_elsewhere(span p)
{
    p.burdened += table.burden_ticks;
    return p;
}

/* Of whoever calls; of a worker that runs nothing, none. */
static span *own(void)
{
    static span none;

    if (!fi_tls_worker())
        return &table.external;
    none = (span){0};
    return table.runs ? &table.now : &none;
}

/* ---- the clock ---- */

/* What has run until now is added to its span.  What we do here is not. */
static void open_book(void)
{
    uint64_t ticks;

    fi_lock_lock(&table.lock);
    if (!table.runs)
        return;
    ticks = fi_span_clock() - table.since;
    ticks = ticks > table.sums.look_ticks ? ticks - table.sums.look_ticks : 0;
    table.now.ticks += ticks;
    table.now.burdened += ticks;
    table.sums.work_ticks += ticks;
    table.sums.looks++;
}

static void shut_book(void)
{
    if (table.runs)
        table.since = fi_span_clock();
    fi_lock_unlock(&table.lock);
}

/* How long nothing takes. */
static void calibrate(void)
{
    uint64_t least = UINT64_MAX;

    table.sums = (fi_span_sums){0}; /* what an earlier runtime has found is not taken off */
    table.runs = true;
    for (int i = 0; i < TRIES; i++) {
        uint64_t before = table.sums.work_ticks;
        shut_book();
        open_book();
        if (i > 0 && table.sums.work_ticks - before < least)
            least = table.sums.work_ticks - before;
    }
    table.runs = false;
    table.now = (span){0};
    table.sums = (fi_span_sums){.look_ticks = least};
}

void fi_span_begin(uint64_t burden_ticks)
{
    fi_lock_lock(&table.lock);
    grow(FIRST_CAPACITY);
    table.burden_ticks = burden_ticks;
    calibrate();
    fi_lock_unlock(&table.lock);
    fi_store_relaxed(&fi_span_on, 1u);
}

void fi_span_read(fi_span_sums *out)
{
    span longest;

    open_book();
    longest = longer(table.longest, table.now);
    *out = table.sums;
    out->span_ticks = longest.ticks;
    out->burdened_ticks = longest.burdened;
    shut_book();
}

void fi_span_end(void)
{
    fi_store_relaxed(&fi_span_on, 0u);
    fi_lock_lock(&table.lock);
    FI_DELETE_ARRAY(entry, table.entries, table.capacity);
    table.entries = NULL;
    table.capacity = table.used = 0;
    table.now = table.external = table.longest = (span){0};
    fi_lock_unlock(&table.lock);
}

/* [child of a fork] The entries belong to the parent. */
static void begin_empty(void)
{
    if (fi_span_is_on())
        fi_span_end();
}

__attribute__((constructor)) static void register_at_fork(void)
{
    fi_at_fork(FI_FORK_SPANS, &table.lock, begin_empty);
}

/* ---- what happens ---- */

static const void *key_of(const fi_runnable *r)
{
    return r->run ? (const void *)r : (const void *)((const char *)r - offsetof(fi_fiber, ready));
}

void fi_span_inherit(const fi_runnable *r)
{
    open_book();
    write_longer(key_of(r), taken_elsewhere(*own()));
    shut_book();
}

void fi_span_join(const void *what)
{
    open_book();
    write_longer(what, *own());
    shut_book();
}

void fi_span_collect(const void *what)
{
    span *mine;

    open_book();
    mine = own();
    *mine = longer(*mine, remove_entry(what));
    shut_book();
}

void fi_span_merge_fiber(const fi_fiber *f)
{
    span *mine;

    open_book();
    mine = own();
    *mine = longer(*mine, f ? read_entry(f) : table.external);
    shut_book();
}

void fi_span_merge(const void *from, const void *to)
{
    open_book();
    write_longer(to, read_entry(from));
    shut_book();
}

void fi_span_reset(const void *what)
{
    open_book();
    remove_entry(what);
    shut_book();
}

void fi_span_arrive(const fi_fiber *f)
{
    open_book();
    table.now = remove_entry(f);
    table.runs = true;
    shut_book();
}

void fi_span_depart(const fi_fiber *f)
{
    open_book();
    entry_for(f)->span = table.now;
    table.longest = longer(table.longest, table.now);
    table.runs = false;
    shut_book();
}

void fi_span_begin_work(const fi_runnable *r)
{
    open_book();
    table.now = remove_entry(r);
    table.sums.pieces++;
    shut_book();
}

void fi_span_end_work(void)
{
    open_book();
    table.longest = longer(table.longest, table.now);
    table.now = (span){0};
    shut_book();
}

void fi_span_suspend(bool is_hidden)
{
    open_book();
    if (is_hidden) {
        table.saved = table.now;
        table.now = (span){0};
    } else {
        table.now = table.saved;
    }
    shut_book();
}

void fi_span_spawned(const void *slot)
{
    open_book();
    entry_for(slot)->span = taken_elsewhere(table.now);
    table.sums.spawns++;
    shut_book();
}

/* Who syncs goes on from where it is now, and leaves that in the place of the task's own entry. */
void fi_span_begin_task(const void *slot)
{
    span at_sync;

    open_book();
    at_sync = table.now;
    table.now = remove_entry(slot);
    entry_for(slot)->span = at_sync;
    shut_book();
}

void fi_span_end_task(const void *slot)
{
    open_book();
    table.now = longer(table.now, remove_entry(slot));
    shut_book();
}
