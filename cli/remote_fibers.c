/* Read the fibers of another process. */
#include "remote.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POOLS_MAX = 64, SLABS_MAX = 1 << 18, STACKS_MAX = 1 << 24, STRINGS_MAX = 256 };

/* The bytes of a record that was read at once. */
typedef struct record {
    unsigned char *bytes;
    size_t size;
} record;

static uint64_t record_u64(const record *r, uint64_t offset)
{
    uint64_t value = 0;
    if (offset < r->size && r->size - offset >= sizeof value)
        memcpy(&value, r->bytes + offset, sizeof value);
    return value;
}

static uint32_t record_u32(const record *r, uint64_t offset)
{
    uint32_t value = 0;
    if (offset < r->size && r->size - offset >= sizeof value)
        memcpy(&value, r->bytes + offset, sizeof value);
    return value;
}

/* Kinds of waits and names of fibers are few strings of the process: each is read once. */
typedef struct string_cache {
    uint64_t address[STRINGS_MAX];
    char text[STRINGS_MAX][REMOTE_TEXT];
} string_cache;

typedef struct walk {
    remote *r;
    string_cache strings;
    uint32_t stacks; /* visited */
    bool is_ended;   /* by is_interrupted of the remote */
    void (*visit)(const remote_fiber *f, void *ctx);
    void *ctx;

    /* Fibers that are read together. */
    unsigned n;
    uint64_t address[REMOTE_BATCH], waiter_at[REMOTE_BATCH], waiting[REMOTE_BATCH];
    unsigned char *fibers, *waiters; /* REMOTE_BATCH records each */
    bool has_fiber[REMOTE_BATCH], has_waiter[REMOTE_BATCH], has_waiting[REMOTE_BATCH];
} walk;

static void copy_string(walk *w, uint64_t address, char *text)
{
    string_cache *c = &w->strings;
    unsigned i = (unsigned)((address ^ address >> 7) % STRINGS_MAX);
    if (c->address[i] != address || address == 0) {
        remote_string(w->r, address, c->text[i], REMOTE_TEXT);
        c->address[i] = address;
    }
    memcpy(text, c->text[i], REMOTE_TEXT);
}

void remote_fiber_name(const remote *r, uint64_t fiber, char name[REMOTE_TEXT])
{
    remote_string(r, remote_u64(r, fiber + r->at.fiber_name), name, REMOTE_TEXT);
}

/* Numbers of processes are not greater than 2^22, and addresses are. */
const char *remote_object_text(uint64_t object, char text[REMOTE_TEXT])
{
    bool is_number = object <= UINT64_C(1) << 22;
    snprintf(text, REMOTE_TEXT, is_number ? "%" PRIu64 : "0x%" PRIx64, object);
    return text;
}

static int worker_of(const remote *r, uint64_t fiber)
{
    for (unsigned i = 0; i < r->n_workers; i++)
        if (remote_worker_u64(r, i, r->at.worker_current) == fiber ||
            remote_worker_u64(r, i, r->at.worker_leaving) == fiber)
            return (int)i;
    return -1;
}

/* A wait of several arms is in no queue itself. */
static bool is_woken(const remote_layout *at, const record *waiter)
{
    if (record_u64(waiter, at->waiter_try_remove) == at->multi_try_remove)
        return record_u32(waiter, at->waiter_winner) != 0;
    return record_u64(waiter, at->waiter_waitq) == 0;
}

static record fiber_record(const walk *w, unsigned i)
{
    size_t size = w->r->at.fiber_size;
    return (record){w->fibers + i * size, size};
}

/* The waiter is on the stack of the fiber.  It is valid if the fiber still waited afterwards. */
static void fill_wait(walk *w, unsigned i, remote_fiber *f)
{
    const remote_layout *at = &w->r->at;
    record waiter = {w->waiters + i * at->waiter_size, at->waiter_size};
    f->waiter = w->waiter_at[i];
    if (f->waiter == 0 || f->worker >= 0 || !w->has_waiter[i] || !w->has_waiting[i] ||
        w->waiting[i] != f->waiter)
        return;
    f->waits = true;
    f->is_woken = is_woken(at, &waiter);
    f->object = record_u64(&waiter, at->waiter_object);
    f->since_ns = (int64_t)record_u64(&waiter, at->waiter_since);
    copy_string(w, record_u64(&waiter, at->waiter_kind), f->kind);
}

static void visit_fiber(walk *w, unsigned i)
{
    const remote_layout *at = &w->r->at;
    record fiber = fiber_record(w, i);
    remote_fiber f = {.address = w->address[i]};
    if (!w->has_fiber[i] || record_u32(&fiber, at->fiber_busy) == 0)
        return;
    f.body = record_u64(&fiber, at->fiber_body);
    f.bound = record_u32(&fiber, at->fiber_bound);
    f.worker = worker_of(w->r, f.address);
    for (uint64_t k = 0; k < REMOTE_REGISTERS; k++)
        f.registers[k] = record_u64(&fiber, at->fiber_registers + 8 * k);
    copy_string(w, record_u64(&fiber, at->fiber_name), f.name);
    fill_wait(w, i, &f);
    w->visit(&f, w->ctx);
}

/* Read the records of the fibers, then their waiters, then again what they wait for. */
static void visit_batch(walk *w)
{
    const remote_layout *at = &w->r->at;
    uint64_t waiting_at[REMOTE_BATCH];
    unsigned n = w->n;
    w->n = 0;
    w->is_ended |= w->r->is_interrupted && w->r->is_interrupted();
    if (n == 0 || w->is_ended)
        return;
    remote_read_many(w->r, w->address, n, w->fibers, at->fiber_size, w->has_fiber);
    for (unsigned i = 0; i < n; i++) {
        record fiber = fiber_record(w, i);
        w->waiter_at[i] = w->has_fiber[i] ? record_u64(&fiber, at->fiber_waiting) : 0;
        waiting_at[i] = w->address[i] + at->fiber_waiting;
    }
    remote_read_many(w->r, w->waiter_at, n, w->waiters, at->waiter_size, w->has_waiter);
    remote_read_many(w->r, waiting_at, n, w->waiting, sizeof *w->waiting, w->has_waiting);
    for (unsigned i = 0; i < n; i++)
        visit_fiber(w, i);
}

/* The record of a fiber is right above its stack. */
static void visit_stacks(walk *w, const record *stacks)
{
    const remote_layout *at = &w->r->at;
    for (size_t i = 0; i + at->stack_size <= stacks->size && at->stack_size > 0;
         i += at->stack_size) {
        record s = {stacks->bytes + i, at->stack_size};
        if (at->stack_in_use >= s.size || !s.bytes[at->stack_in_use])
            continue;
        w->address[w->n++] = record_u64(&s, at->stack_low) + record_u64(&s, at->stack_bytes);
        if (w->n == REMOTE_BATCH)
            visit_batch(w);
    }
}

static void visit_slab(walk *w, uint64_t slab)
{
    const remote_layout *at = &w->r->at;
    uint32_t n = 0;
    remote_read(w->r, slab + at->slab_fresh, &n, sizeof n);
    if (n == 0 || n > STACKS_MAX - w->stacks)
        return;
    w->stacks += n;
    record stacks = {.size = n * at->stack_size};
    stacks.bytes = malloc(stacks.size);
    if (stacks.bytes &&
        remote_read(w->r, remote_u64(w->r, slab + at->slab_stacks), stacks.bytes, stacks.size))
        visit_stacks(w, &stacks);
    free(stacks.bytes);
}

/* A list of damaged memory may be a circle. */
static void visit_pools(walk *w)
{
    const remote_layout *at = &w->r->at;
    unsigned slabs = 0, pools = at->n_sized_pools < POOLS_MAX ? (unsigned)at->n_sized_pools : 0;
    for (unsigned i = 0; i <= pools; i++) {
        uint64_t pool =
            w->r->runtime +
            (i == 0 ? at->runtime_stack_pool : at->runtime_sized_pools + (i - 1) * at->pool_size);
        uint64_t slab = remote_u64(w->r, pool + at->pool_slabs);
        for (; slab != 0 && slabs++ < SLABS_MAX && !w->is_ended;
             slab = remote_u64(w->r, slab + at->slab_next))
            visit_slab(w, slab);
    }
}

bool remote_foreach_fiber(remote *r, void (*visit)(const remote_fiber *f, void *ctx), void *ctx)
{
    static walk w; /* large */
    w = (walk){.r = r, .visit = visit, .ctx = ctx};
    w.fibers = malloc(REMOTE_BATCH * (r->at.fiber_size + 1));
    w.waiters = malloc(REMOTE_BATCH * (r->at.waiter_size + 1));
    bool is_ok = w.fibers && w.waiters && remote_read_workers(r);
    if (is_ok) {
        visit_pools(&w);
        visit_batch(&w);
    }
    free(w.fibers);
    free(w.waiters);
    return is_ok && !remote_is_over(r);
}
