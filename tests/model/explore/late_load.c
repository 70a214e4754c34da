/* Late loads of items (imm).
 *
 * A thief does not use an item before its claim succeeds.  So the load returns a token, and the
 * explorer decides later which store was read: at the latest when the thread releases something
 * (which keeps earlier loads before it), when the value is used, or when the thread returns to the
 * same slot. */
#include "explore/memory.h"

static const unsigned char tokens[MAX_THREADS][MAX_LATE];

static void settle(machine_thread *t, late_load *late)
{
    if (!late->waiting)
        return;
    location *l = &m.location[late->location];
    uint8_t newest = (uint8_t)(l->stores - 1);
    uint8_t position = (uint8_t)(newest - search_choose((uint32_t)(newest - late->oldest + 1)));
    late->waiting = false;
    late->value = l->store[position].value;
    if (t->cur.seen[late->location] < position)
        see(t, late->location, position);
    view_join(&t->acq, &l->store[position].carried);
    search_read(late->value);
    if (tracing) {
        static site s = {"", "", ORDER_RELAXED, ORDER_RELAXED, 0, sizeof(void *)};
        trace_operation("late", location_name(l), late->value, &s,
                        "the load above happens only now");
    }
}

void settle_all(machine_thread *t)
{
    for (int i = 0; i < t->lates; i++)
        settle(t, &t->late[i]);
}

void settle_location(machine_thread *t, int l)
{
    for (int i = 0; i < t->lates; i++)
        if (t->late[i].location == l)
            settle(t, &t->late[i]);
}

static late_load *late_of(const void *item)
{
    const unsigned char *p = item;
    if (p < &tokens[0][0] || p >= &tokens[0][0] + sizeof tokens)
        return NULL;
    size_t i = (size_t)(p - &tokens[0][0]);
    return &m.thread[i / MAX_LATE].late[i % MAX_LATE];
}

void *x_settle(void *item)
{
    late_load *late = late_of(item);
    if (!late)
        return item;
    settle(self(), late);
    return (void *)(uintptr_t)late->value;
}

void *load_late(int l, site *s)
{
    machine_thread *t = self();
    if (t->lates == MAX_LATE)
        x_fail(LIMIT, "the explorer's array of late loads is too small");
    int i = t->lates++;
    t->late[i] = (late_load){(uint8_t)l, t->cur.seen[l], true, 0};
    if (tracing)
        trace_operation("load", location_name(&m.location[l]), NO_VALUE, s,
                        "value not yet decided");
    return (void *)(uintptr_t)&tokens[t - m.thread][i];
}

void machine_forget(int thread)
{
    m.thread[thread].lates = 0;
}
