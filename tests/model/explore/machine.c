/* The memory of the explorer: a view machine.
 *
 * Per location there is the list of its stores in modification order.  A *view* says, per location,
 * up to which store somebody is known to have seen.  Each thread has three (after Kang et al., "A
 * Promising Semantics", 2017, without promises): cur   what it has seen: it may read any store that
 * is not older acq   what an acquire fence would add: the views of all stores read, with or without
 * acquire rel   what a relaxed store passes on: cur at the last release fence Each store carries a
 * view for whoever acquires it.  A release store carries cur; a read-modify-write adds what the
 * store it replaces carried, which is C11's release sequence since 2020: another store of the same
 * thread does not continue it.  A seq_cst fence exchanges views with one global view.
 *
 * tso is the same machine with the freedom taken away (a load reads the newest store) and a buffer
 * added before each store.
 *
 * Data races are found by clocks that travel in the views: an access is ordered after another
 * thread's if its view has that thread's clock.
 */
#include "explore/memory.h"

#include "base/futex.h"

#include <inttypes.h>
#include <string.h>

machine m;

/* ---- views ---- */

/* What the explorer does most: both halves of a view are bytes, so that a few vector instructions do it. */
static void join(view *restrict into, const view *restrict from)
{
    uint8_t *a = (uint8_t *)into;
    const uint8_t *b = (const uint8_t *)from;
    for (size_t i = 0; i < sizeof *into; i++)
        a[i] = a[i] < b[i] ? b[i] : a[i];
}

static machine_thread *self(void)
{
    return &m.thread[search_self()];
}

/* The thread has done something that others can tell from what it does next. */
static void tick(machine_thread *t)
{
    if (t->cur.clock[t - m.thread] == UINT8_MAX)
        x_fail(LIMIT, "the explorer's clocks are too small");
    uint8_t now = ++t->cur.clock[t - m.thread];
    t->acq.clock[t - m.thread] = now;
}

static void see(machine_thread *t, int l, uint8_t position)
{
    t->cur.seen[l] = position;
    if (t->acq.seen[l] < position)
        t->acq.seen[l] = position;
}

/* In tso a thread need not let others go before it loads what only itself can change.  Who can change
 * what is learnt on the way: if a location gets a writer after others have relied on it having none, all
 * begins anew. */
static struct {
    uint8_t writers, relying; /* a bit per thread, in any execution of this check */
} learnt[MAX_LOCATIONS];

static uint8_t my_bit(void)
{
    return (uint8_t)(1u << search_self());
}

static void note_writer(int l)
{
    if (search_in_setup() || (learnt[l].writers & my_bit()))
        return;
    learnt[l].writers |= my_bit();
    if (learnt[l].relying & ~my_bit())
        search_restart();
}

static bool only_mine(int l)
{
    bool mine = (learnt[l].writers & ~my_bit()) == 0;
    if (mine && !search_in_setup())
        learnt[l].relying |= my_bit();
    return mine;
}

static bool acquires(order o)
{
    return o == ORDER_ACQUIRE || o == ORDER_ACQ_REL || o == ORDER_SEQ_CST || o == ORDER_RMW;
}

static bool releases(order o)
{
    return o == ORDER_RELEASE || o == ORDER_ACQ_REL || o == ORDER_SEQ_CST || o == ORDER_RMW;
}

/* ---- locations ---- */

location *memory_add(const void *p, uint64_t value, const char *name, int index)
{
    if (m.locations == MAX_LOCATIONS)
        x_fail(LIMIT, "the explorer has no room for more locations");
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

static int find(const void *p)
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
    memory_add(p, v, name, -1);
}

void x_init(const void *p, uint64_t v, const char *text)
{
    const char *field = strstr(text, "->");
    initial_value(p, v, field ? field + 2 : text);
}

/* ---- the order an operation has in this check ---- */

static unsigned check_number; /* distinguishes the cached orders of one check from the next */

static bool weakened(const char *label, order *to)
{
    for (int i = 0; i < MAX_WEAKENINGS; i++) {
        const weakening *w = &m.check->weaken[i];
        if (w->label && strcmp(w->label, label) == 0) {
            *to = w->to;
            return true;
        }
    }
    return false;
}

static order order_of(site *s)
{
    if (s->check != check_number) {
        s->check = check_number;
        if (!weakened(s->label, &s->now))
            s->now = s->written;
    }
    return s->now;
}

static void cannot_be(const site *s, order o)
{
    x_fail(WRONG, "%s cannot be made %s", s->label, order_name(o));
}

/* The order of a load, a store or a read-modify-write, which must be one it can have. */
static order order_among(site *s, order a, order b, order c)
{
    order o = order_of(s);
    if (o != s->written && o != a && o != b && o != c)
        cannot_be(s, o);
    return o;
}

bool x_fault(const char *label)
{
    order ignored;
    return weakened(label, &ignored);
}

/* ---- data races ---- */

static bool unordered(const uint8_t *clocks, const machine_thread *t)
{
    for (int i = 0; i < MAX_THREADS; i++)
        if (i != t - m.thread && clocks[i] > t->cur.clock[i])
            return true;
    return false;
}

static void plain_access(plain *p, bool write, const char *what)
{
    machine_thread *t = self();
    uint8_t now = t->cur.clock[t - m.thread];
    if (unordered(p->wrote, t) || (write && unordered(p->read, t)))
        x_fail(RACE, "data race on %s", what);
    (write ? p->wrote : p->read)[t - m.thread] = now;
}

/* An atomic access races with plain ones alone. */
static void atomic_access(int l)
{
    machine_thread *t = self();
    if (m.check->races)
        m.location[l].plain.read[t - m.thread] = t->cur.clock[t - m.thread];
}

/* Freed memory becomes another object, whose fields need not be atomic: a free is a plain write. */
void machine_free(const void *low, const void *high)
{
    if (!m.check->races)
        return;
    for (int i = 0; i < m.locations; i++) {
        location *l = &m.location[i];
        if (l->address >= low && l->address < high)
            plain_access(&l->plain, true, location_name(l));
    }
}

static void data_access(int datum, bool write)
{
    const check *c = m.check;
    if (c->races)
        plain_access(&m.data[datum], write,
                     c->data_name ? c->data_name(datum) : "what the item points to");
}

void x_data_write(int datum)
{
    data_access(datum, true);
}

void x_data_read(int datum)
{
    data_access(datum, false);
}

/* ---- loads ---- */

static uint8_t oldest_readable(const machine_thread *t, int l)
{
    return m.check->mode == MODE_TSO ? (uint8_t)(m.location[l].stores - 1) : t->cur.seen[l];
}

static const store *read_at(machine_thread *t, int l, uint8_t position, order o)
{
    const store *s = &m.location[l].store[position];
    if (position + 1 < m.location[l].stores)
        search_stale();
    if (t->cur.seen[l] < position)
        see(t, l, position);
    join(&t->acq, &s->carried);
    if (acquires(o))
        join(&t->cur, &s->carried);
    return s;
}

static const buffered *newest_buffered(const machine_thread *t, int l)
{
    for (int i = t->buffers - 1; i >= 0; i--)
        if (t->buffer[i].location == l)
            return &t->buffer[i];
    return NULL;
}

static const char *staleness(int l, uint8_t position)
{
    return position + 1 < m.location[l].stores ? "stale" : "";
}

static uint64_t load(int l, site *s, order o)
{
    if (!only_mine(l)) {
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

static void settle_location(machine_thread *t, int l);

uint64_t x_load(const void *p, site *s)
{
    search_operation();
    int l = find(p);
    settle_location(self(), l);
    uint64_t value = load(l, s, order_among(s, ORDER_RELAXED, ORDER_ACQUIRE, ORDER_ACQUIRE));
    search_read(value);
    return value;
}

/* ---- late loads (imm) ----
 *
 * Nobody looks at an item before the claim, so the load gives out a token and decides later what it
 * has read: at the latest when the thread releases something (which keeps earlier loads before it),
 * when the value is used, or when the thread comes back to the same slot. */

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
    join(&t->acq, &l->store[position].carried);
    search_read(late->value);
    if (tracing) {
        static site s = {"", "", ORDER_RELAXED, ORDER_RELAXED, 0, sizeof(void *)};
        trace_operation("late", location_name(l), late->value, &s,
                        "the load above happens only now");
    }
}

static void settle_all(machine_thread *t)
{
    for (int i = 0; i < t->lates; i++)
        settle(t, &t->late[i]);
}

static void settle_location(machine_thread *t, int l)
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

static void *load_late(int l, site *s)
{
    machine_thread *t = self();
    if (t->lates == MAX_LATE)
        x_fail(LIMIT, "the explorer has no room for more late loads");
    int i = t->lates++;
    t->late[i] = (late_load){(uint8_t)l, t->cur.seen[l], true, 0};
    if (tracing)
        trace_operation("load", location_name(&m.location[l]), NO_VALUE, s,
                        "value not yet decided");
    return (void *)(uintptr_t)&tokens[t - m.thread][i];
}

void *x_load_item(const void *p, site *s)
{
    search_operation();
    int l = find(p);
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

/* ---- stores ---- */

static void shift(uint8_t *seen, uint8_t position)
{
    if (*seen >= position)
        ++*seen;
}

static void shift_view(view *v, int l, uint8_t position)
{
    shift(&v->seen[l], position);
}

/* Make room in the modification order: all that is known of later positions moves up. */
static store *insert(int l, uint8_t position)
{
    location *loc = &m.location[l];
    if (loc->stores == MAX_STORES)
        x_fail(LIMIT, "the explorer has no room for more stores");
    if (position < loc->stores) {
        memmove(&loc->store[position + 1], &loc->store[position],
                (size_t)(loc->stores - position) * sizeof loc->store[0]);
        for (int i = 0; i < MAX_THREADS; i++) {
            shift_view(&m.thread[i].cur, l, position);
            shift_view(&m.thread[i].acq, l, position);
            shift_view(&m.thread[i].rel, l, position);
            shift_view(&m.thread[i].lit, l, position);
            for (int k = 0; k < m.thread[i].lates; k++)
                if (m.thread[i].late[k].location == l)
                    shift(&m.thread[i].late[k].oldest, position);
        }
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

static bool may_insert(const location *l, int position)
{
    return position == l->stores || !l->store[position].rmw;
}

/* Which place in the modification order: behind all that the thread has seen, newest place first.
 */
static uint8_t choose_place(const machine_thread *t, int l)
{
    const location *loc = &m.location[l];
    uint8_t places[MAX_STORES + 1] = {0};
    uint32_t n = 0;
    for (int p = loc->stores; p > t->cur.seen[l]; p--)
        if (may_insert(loc, p))
            places[n++] = (uint8_t)p;
    return places[search_choose(n)];
}

/* The caller's view with the new store in it is what the store carries. */
static void write_at(machine_thread *t, int l, uint8_t position, uint64_t value, view carried,
                     bool rmw)
{
    store *s = insert(l, position);
    s->value = value;
    s->rmw = rmw;
    see(t, l, position);
    s->carried = carried;
    s->carried.seen[l] = position;
    tick(t);
}

static void buffer_store(machine_thread *t, int l, uint64_t value, view carried)
{
    if (t->buffers == MAX_BUFFER)
        x_fail(LIMIT, "the explorer's store buffer is too small");
    t->buffer[t->buffers++] = (buffered){(uint8_t)l, value, carried};
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
    write_at(t, l, choose_place(t, l), v, carried, false);
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
    int l = find(p);
    settle_location(self(), l);
    store_value(l, v, s, o);
}

void x_store_item(const void *p, void *item, site *s)
{
    search_operation();
    int l = find(p);
    item = x_settle(item);
    settle_location(self(), l);
    if (order_of(s) == ORDER_PLAIN)
        plain_access(&m.location[l].plain, true, location_name(&m.location[l]));
    store_value(l, (uint64_t)(uintptr_t)item, s, order_of(s));
}

bool machine_can_flush(int thread)
{
    return m.thread[thread].buffers > 0;
}

void machine_flush(int thread)
{
    machine_thread *t = &m.thread[thread];
    buffered first = t->buffer[0];
    memmove(&t->buffer[0], &t->buffer[1], (size_t)--t->buffers * sizeof t->buffer[0]);
    if (t->buffers_lit > 0)
        t->buffers_lit--;
    location *l = &m.location[first.location];
    store *s = insert(first.location, l->stores);
    uint8_t position = (uint8_t)(l->stores - 1);
    s->value = first.value;
    s->rmw = false;
    s->carried = first.carried;
    s->carried.seen[first.location] = position;
    see(t, first.location, position);
    if (tracing)
        trace_flush(thread, location_name(l), first.value);
}

/* ---- read-modify-write ---- */

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

static bool rmw(const void *p, rmw_kind kind, uint64_t *expected, uint64_t operand, site *s)
{
    search_operation();
    order o = order_of(s);
    if (o == ORDER_NONE || o == ORDER_PLAIN)
        cannot_be(s, o);
    int l = find(p);
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
    uint64_t found = old->value;
    if (chosen.succeeds) {
        view carried = releases(o) ? t->cur : t->rel;
        join(&carried, &old->carried);
        uint64_t next = kind == RMW_ADD ? wrapped(found + operand, s) : operand;
        if (tracing)
            trace_operation(kind == RMW_CAS ? "cas" : "rmw", location_name(&m.location[l]), next, s,
                            "");
        write_at(t, l, (uint8_t)(chosen.position + 1), next, carried, true);
    } else if (tracing) {
        trace_operation("cas", location_name(&m.location[l]), found, s, "fails: finds");
    }
    *expected = found;
    search_read(found * 2 + chosen.succeeds);
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

/* ---- fences ---- */

static void acquire_fence(machine_thread *t)
{
    t->cur = t->acq;
}

static void release_fence(machine_thread *t)
{
    settle_all(t);
    t->rel = t->cur;
}

static void seq_cst_fence(machine_thread *t)
{
    settle_all(t);
    acquire_fence(t);
    join(&t->cur, &m.fences);
    m.fences = t->acq = t->cur;
    release_fence(t);
    tick(t);
}

/* Only a seq_cst fence is seen by others, and only it empties the store buffer. */
static void full_fence(site *s)
{
    if (machine_can_flush(search_self()))
        search_point_before(true);
    seq_cst_fence(self());
    if (tracing)
        trace_operation("fence", "", NO_VALUE, s, "");
    search_point_after();
}

static void weaker_fence(site *s, order o)
{
    machine_thread *t = self();
    settle_all(t);
    if (acquires(o))
        acquire_fence(t);
    if (releases(o))
        release_fence(t);
    if (tracing)
        trace_operation("fence", "", NO_VALUE, s, "");
}

void x_fence(site *s)
{
    search_operation();
    order o = order_of(s);
    if (o == ORDER_SEQ_CST)
        full_fence(s);
    else if (o == ORDER_ACQUIRE || o == ORDER_RELEASE || o == ORDER_ACQ_REL)
        weaker_fence(s, o);
    else if (o != ORDER_NONE)
        cannot_be(s, o);
}

/* ---- fences in pairs, of which one is light ----
 *
 * They promise this much, and no more: of a light and a heavy one, one comes first, and what is before it is seen after
 * the other.  Two light ones promise nothing, nor does a light one order what its thread stores next.  So a light one notes what
 * was before it, for heavy ones that come, and sees what was before those that have come. */

static void light_fence(site *s)
{
    search_point_before(false);
    machine_thread *t = self();
    settle_all(t);
    t->lit = t->acq;
    t->buffers_lit = t->buffers;
    join(&t->cur, &m.heavy);
    join(&t->acq, &m.heavy);
    tick(t);
    if (tracing)
        trace_operation("light", "", NO_VALUE, s, "");
    search_point_after();
}

static void flush_lit(int thread)
{
    while (m.thread[thread].buffers_lit > 0)
        machine_flush(thread);
}

static void heavy_fence(site *s)
{
    search_point_before(true);
    machine_thread *t = self();
    seq_cst_fence(t);
    join(&m.heavy, &t->rel); /* what was before it, and not what comes next */
    if (tracing)
        trace_operation("heavy", "", NO_VALUE, s, "");
    for (int i = 0; i < MAX_THREADS; i++) {
        flush_lit(i);
        join(&t->cur, &m.thread[i].lit);
        join(&t->acq, &m.thread[i].lit);
    }
    search_point_after();
}

static void fence_of_pair(site *s, void (*fence)(site *s))
{
    search_operation();
    order o = order_of(s);
    if (o == ORDER_SEQ_CST)
        fence(s);
    else if (o == ORDER_ACQ_REL)
        weaker_fence(s, o);
    else if (o != ORDER_NONE)
        cannot_be(s, o);
}

void x_fence_light(site *s)
{
    fence_of_pair(s, light_fence);
}

void x_fence_heavy(site *s)
{
    fence_of_pair(s, heavy_fence);
}

/* The kernel's lock is a full barrier. */
void machine_enter_kernel(void)
{
    seq_cst_fence(self());
}

/* In there the newest value is read. */
uint64_t machine_newest(const void *p)
{
    int l = find(p);
    uint8_t newest = (uint8_t)(m.location[l].stores - 1);
    return read_at(self(), l, newest, ORDER_RELAXED)->value;
}

void machine_is_lock(const void *p)
{
    m.location[find(p)].lock = true;
}

uint64_t x_peek(const void *p)
{
    const location *l = &m.location[find(p)];
    return l->store[l->stores - 1].value;
}

void machine_join(int thread, int threads)
{
    for (int i = 0; i < threads; i++) {
        settle_all(&m.thread[i]);
        join(&m.thread[thread].cur, &m.thread[i].acq);
        join(&m.thread[thread].acq, &m.thread[i].acq);
    }
}

void machine_begin(const check *c)
{
    m.check = c;
    check_number++;
    memset(learnt, 0, sizeof learnt);
}

void machine_forget(int thread)
{
    m.thread[thread].lates = 0;
}

void machine_reset(void)
{
    memset(m.thread, 0, sizeof m.thread);
    memset(&m.fences, 0, sizeof m.fences);
    memset(&m.heavy, 0, sizeof m.heavy);
    memset(m.data, 0, sizeof m.data);
    for (int i = 0; i < MAX_THREADS; i++)
        m.thread[i].cur.clock[i] = m.thread[i].acq.clock[i] = 1;
    m.locations = 0;
    arena_reset();
}
