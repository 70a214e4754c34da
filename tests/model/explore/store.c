/* Stores, and their position in the modification order of their location. */
#include "explore/memory.h"

#include <string.h>

static void shift(uint8_t *seen, uint8_t position)
{
    if (*seen >= position)
        ++*seen;
}

static void shift_view(view *v, int l, uint8_t position)
{
    shift(&v->seen[l], position);
}

static void shift_thread(machine_thread *t, int l, uint8_t position)
{
    shift_view(&t->cur, l, position);
    shift_view(&t->acq, l, position);
    shift_view(&t->rel, l, position);
    shift_view(&t->lit, l, position);
    for (int k = 0; k < t->lates; k++)
        if (t->late[k].location == l)
            shift(&t->late[k].oldest, position);
}

/* Insert into the modification order: all that is known of later positions moves up. */
store *store_insert(int l, uint8_t position)
{
    location *loc = &m.location[l];
    if (loc->stores == MAX_STORES)
        x_fail(LIMIT, "the explorer's array of stores is too small");
    if (position < loc->stores) {
        memmove(&loc->store[position + 1], &loc->store[position],
                (size_t)(loc->stores - position) * sizeof loc->store[0]);
        for (int i = 0; i < MAX_THREADS; i++)
            shift_thread(&m.thread[i], l, position);
        shift_view(&m.fences, l, position);
        shift_view(&m.heavy, l, position);
        for (int i = 0; i < m.locations; i++)
            for (int k = 0; k < m.location[i].stores + (i == l); k++)
                if (i != l || k != position)
                    shift_view(&m.location[i].store[k].carried, l, position);
    }
    loc->stores++;
    return &loc->store[position];
}

bool may_insert(const location *l, int position)
{
    return position == l->stores || !l->store[position].rmw;
}

/* A position in the modification order after all that the thread has seen, newest first. */
static uint8_t choose_position(const machine_thread *t, int l)
{
    const location *loc = &m.location[l];
    uint8_t positions[MAX_STORES + 1] = {0};
    uint32_t n = 0;
    for (int p = loc->stores; p > t->cur.seen[l]; p--)
        if (may_insert(loc, p))
            positions[n++] = (uint8_t)p;
    return positions[search_choose(n)];
}

/* The store carries the caller's view with the new store in it. */
void write_at(machine_thread *t, int l, uint8_t position, uint64_t value, view carried, bool rmw)
{
    store *s = store_insert(l, position);
    s->value = value;
    s->rmw = rmw;
    see(t, l, position);
    s->carried = carried;
    s->carried.seen[l] = position;
    tick(t);
}

static void store_value(int l, uint64_t v, site *s, order o)
{
    machine_thread *t = self();
    note_writer(l);
    if (o != ORDER_PLAIN)
        atomic_access(l);
    if (releases(o))
        settle_all(t);
    view carried = releases(o) ? t->cur : t->rel;
    if (tracing)
        trace_operation("store", location_name(&m.location[l]), v, s, "");
    if (m.check->mode == MODE_TSO && !search_in_setup()) {
        buffer_store(t, l, v, carried);
        return;
    }
    write_at(t, l, choose_position(t, l), v, carried, false);
    search_point_after();
}

void x_store(const void *p, uint64_t v, site *s)
{
    order o = order_among(s, ORDER_RELAXED, ORDER_RELEASE, ORDER_RMW);
    if (o == ORDER_RMW) {
        x_exchange(p, v, s);
        return;
    }
    search_operation();
    int l = location_find(p);
    settle_location(self(), l);
    store_value(l, v, s, o);
}

void x_store_item(const void *p, void *item, site *s)
{
    search_operation();
    int l = location_find(p);
    item = x_settle(item);
    settle_location(self(), l);
    if (order_of(s) == ORDER_PLAIN)
        plain_access(&m.location[l].plain, true, location_name(&m.location[l]));
    store_value(l, (uint64_t)(uintptr_t)item, s, order_of(s));
}
