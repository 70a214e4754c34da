#include "observe/trace_cast.h"

#include "observe/pages.h"

#define ROOM_MIN 1024u

static size_t bytes_of(const fi_trace_cast *c)
{
    return c->room * sizeof *c->table;
}

/* Where it is, or would be. */
static fi_trace_one *find(const fi_trace_cast *c, uint64_t id)
{
    size_t at = (size_t)(id * UINT64_C(0x9e3779b97f4a7c15) >> 32);

    for (;; at++) {
        fi_trace_one *one = &c->table[at & (c->room - 1)];
        if (one->id == id || one->id == 0)
            return one;
    }
}

static bool grow(fi_trace_cast *c)
{
    fi_trace_cast more = {.room = c->room > 0 ? 2 * c->room : ROOM_MIN, .n = c->n};

    more.table = fi_pages_get(bytes_of(&more));
    if (!more.table)
        return false;
    for (size_t i = 0; i < c->room; i++)
        if (c->table[i].id)
            *find(&more, c->table[i].id) = c->table[i];
    fi_trace_cast_free(c);
    *c = more;
    return true;
}

fi_trace_one *fi_trace_cast_get(fi_trace_cast *c, uint64_t id)
{
    fi_trace_one *one;

    if (2 * c->n >= c->room && !grow(c))
        return NULL;
    one = find(c, id);
    if (one->id == 0) {
        *one = (fi_trace_one){.id = id};
        c->n++;
    }
    return one;
}

void fi_trace_cast_free(fi_trace_cast *c)
{
    fi_pages_put(c->table, bytes_of(c));
    c->table = NULL;
}
