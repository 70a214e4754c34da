/* Read-modify-writes: compare-and-swap, exchange and add. */
#include "explore/memory.h"

typedef enum rmw_kind { RMW_CAS, RMW_EXCHANGE, RMW_ADD } rmw_kind;

typedef struct rmw_option {
    uint8_t position;
    bool succeeds;
} rmw_option;

/* Any store not older than what was seen: one that differs from what is expected makes a CAS fail;
 * any other can be replaced unless another read-modify-write has done so already. */
static uint32_t rmw_options(const machine_thread *t, int l, rmw_kind kind, uint64_t expected,
                            rmw_option *options)
{
    const location *loc = &m.location[l];
    uint32_t n = 0;
    for (int p = loc->stores - 1; p >= oldest_readable(t, l); p--) {
        bool fails = kind == RMW_CAS && loc->store[p].value != expected;
        if (fails || may_insert(loc, p + 1))
            options[n++] = (rmw_option){(uint8_t)p, !fails};
    }
    return n;
}

static uint64_t wrapped(uint64_t sum, const site *s)
{
    return s->bytes < sizeof sum ? sum & ((UINT64_C(1) << 8 * s->bytes) - 1) : sum;
}

/* Its store carries what the replaced store carried as well: the release sequence. */
static void rmw_write(machine_thread *t, int l, rmw_option chosen, const store *old, rmw_kind kind,
                      uint64_t operand, site *s)
{
    view carried = releases(s->now) ? t->cur : t->rel;
    view_join(&carried, &old->carried);
    uint64_t next = kind == RMW_ADD ? wrapped(old->value + operand, s) : operand;
    if (tracing)
        trace_operation(kind == RMW_CAS ? "cas" : "rmw", location_name(&m.location[l]), next, s,
                        "");
    write_at(t, l, (uint8_t)(chosen.position + 1), next, carried, true);
}

static bool rmw(const void *p, rmw_kind kind, uint64_t *expected, uint64_t operand, site *s)
{
    search_operation();
    order o = order_of(s);
    if (o == ORDER_NONE || o == ORDER_PLAIN)
        order_refuse(s, o);
    int l = location_find(p);
    machine_thread *t = self();
    note_writer(l);
    settle_location(t, l);
    if (releases(o))
        settle_all(t);
    search_point_before(true);
    arena_fail_if_freed(&m.location[l]);
    atomic_access(l);

    rmw_option options[MAX_STORES];
    uint32_t n = rmw_options(t, l, kind, *expected, options);
    rmw_option chosen = options[search_choose(n)];
    /* A CAS that fails is a relaxed load. */
    const store *old = read_at(t, l, chosen.position, chosen.succeeds ? o : ORDER_RELAXED);
    *expected = old->value;
    if (chosen.succeeds)
        rmw_write(t, l, chosen, old, kind, operand, s);
    else if (tracing)
        trace_operation("cas", location_name(&m.location[l]), *expected, s, "fails: finds");
    search_read(*expected * 2 + chosen.succeeds);
    if (chosen.succeeds)
        search_point_after();
    return chosen.succeeds;
}

bool x_cas(const void *p, uint64_t *expected, uint64_t desired, site *s)
{
    return rmw(p, RMW_CAS, expected, desired, s);
}

uint64_t x_exchange(const void *p, uint64_t v, site *s)
{
    uint64_t found = 0;
    rmw(p, RMW_EXCHANGE, &found, v, s);
    return found;
}

uint64_t x_fetch_add(const void *p, uint64_t v, site *s)
{
    uint64_t found = 0;
    rmw(p, RMW_ADD, &found, v, s);
    return found;
}
