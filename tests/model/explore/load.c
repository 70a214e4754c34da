/* Loads: which stores a load may read, and what the thread learns from the one it reads. */
#include "explore/memory.h"

uint8_t oldest_readable(const machine_thread *t, int l)
{
    return m.check->mode == MODE_TSO ? (uint8_t)(m.location[l].stores - 1) : t->cur.seen[l];
}

const store *read_at(machine_thread *t, int l, uint8_t position, order o)
{
    const store *s = &m.location[l].store[position];
    if (position + 1 < m.location[l].stores)
        search_stale();
    if (t->cur.seen[l] < position)
        see(t, l, position);
    view_join(&t->acq, &s->carried);
    if (acquires(o))
        view_join(&t->cur, &s->carried);
    return s;
}

static const char *staleness(int l, uint8_t position)
{
    return position + 1 < m.location[l].stores ? "stale" : "";
}

static uint64_t load(int l, site *s, order o)
{
    if (!is_sole_writer(l)) {
        search_point_before(false);
        arena_fail_if_freed(&m.location[l]);
    }
    if (o != ORDER_PLAIN)
        atomic_access(l);
    machine_thread *t = self();
    const buffered *own = newest_buffered(t, l);
    if (own) {
        if (tracing)
            trace_operation("load", location_name(&m.location[l]), own->value, s,
                            "from its own buffer");
        return own->value;
    }
    uint8_t newest = (uint8_t)(m.location[l].stores - 1);
    uint32_t options = (uint32_t)(newest - oldest_readable(t, l) + 1);
    uint8_t position = (uint8_t)(newest - search_choose(options));
    uint64_t value = read_at(t, l, position, o)->value;
    if (tracing)
        trace_operation("load", location_name(&m.location[l]), value, s, staleness(l, position));
    return value;
}

uint64_t x_load(const void *p, site *s)
{
    search_operation();
    int l = location_find(p);
    settle_location(self(), l);
    uint64_t value = load(l, s, order_among(s, ORDER_RELAXED, ORDER_ACQUIRE, ORDER_ACQUIRE));
    search_read(value);
    return value;
}

void *x_load_item(const void *p, site *s)
{
    search_operation();
    int l = location_find(p);
    order o = order_among(s, ORDER_RELAXED, ORDER_PLAIN, ORDER_PLAIN);
    if (o == ORDER_PLAIN)
        plain_access(&m.location[l].plain, false, location_name(&m.location[l]));
    settle_location(self(), l);
    if (m.check->mode == MODE_IMM && !search_in_setup())
        return load_late(l, s);
    uint64_t value = load(l, s, o);
    search_read(value);
    return (void *)(uintptr_t)value;
}

/* In the kernel the newest value is read. */
uint64_t machine_newest(const void *p)
{
    int l = location_find(p);
    uint8_t newest = (uint8_t)(m.location[l].stores - 1);
    return read_at(self(), l, newest, ORDER_RELAXED)->value;
}
