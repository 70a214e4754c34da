/* The atomics of a check: each address that was initialised is a location with its stores. */
#include "explore/memory.h"

#include <string.h>

location *location_add(const void *p, uint64_t value, const char *name, int index)
{
    if (m.locations == MAX_LOCATIONS)
        x_fail(LIMIT, "the explorer's array of locations is too small");
    location *l = &m.location[m.locations++];
    memset(&l->plain, 0, sizeof l->plain);
    memset(&l->store[0], 0, sizeof l->store[0]);
    l->address = p;
    l->stores = 1;
    l->lock = false;
    l->store[0].value = value;
    l->name = name;
    l->index = index;
    return l;
}

const char *location_name(const location *l)
{
    static char text[24];
    if (l->index < 0)
        snprintf(text, sizeof text, "%s", l->name);
    else
        snprintf(text, sizeof text, "%s[%d]", l->name, l->index);
    return text;
}

int location_find(const void *p)
{
    for (int i = 0; i < m.locations; i++)
        if (m.location[i].address == p) {
            arena_fail_if_freed(&m.location[i]);
            return i;
        }
    x_fail(WRONG, "an atomic that was never initialised is used");
}

static void initial_value(const void *p, uint64_t v, const char *name)
{
    for (int i = 0; i < m.locations; i++)
        if (m.location[i].address == p) {
            m.location[i].store[0].value = v;
            return;
        }
    location_add(p, v, name, -1);
}

void x_init(const void *p, uint64_t v, const char *text)
{
    const char *field = strstr(text, "->");
    initial_value(p, v, field ? field + 2 : text);
}

uint64_t x_peek(const void *p)
{
    const location *l = &m.location[location_find(p)];
    return l->store[l->stores - 1].value;
}

void machine_is_lock(const void *p)
{
    m.location[location_find(p)].lock = true;
}
