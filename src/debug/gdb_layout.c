/* The offsets of fields that debuggers need.  tools/filch-gdb.py reads this table, so it needs no
 * debug information of the library.  New entries are added only at the end. */
#include "debug/gdb_layout.h"

#include "sched/worker.h"
#include "stack/slab.h"
#include "wait/waitq.h"

#include <stddef.h>

static fi_runtime *runtime;

void fi_gdb_layout_set_runtime(fi_runtime *rt)
{
    runtime = rt;
}

#define VERSION 1

typedef struct layout {
    uint32_t version, n_entries; /* 32-bit entries that follow these two */
    uint32_t runtime_workers, runtime_n_workers, runtime_stack_pool, runtime_sized_pools,
        n_sized_pools;
    uint32_t pool_size, pool_slabs;
    uint32_t slab_next, slab_stacks, slab_fresh;
    uint32_t stack_size, stack_low, stack_bytes, stack_in_use;
    uint32_t worker_size, worker_current;
    uint32_t fiber_busy, fiber_waiting, fiber_name, fiber_body, fiber_registers;
    uint32_t waiter_kind, waiter_object;
} layout;

/* Exported for debuggers only; not part of the API. */
extern const struct filch_layout_ {
    layout at;
    fi_runtime **runtime;
} filch_layout_;

__attribute__((visibility("default"), used)) const struct filch_layout_ filch_layout_ = {
    .at =
        {
            .version = VERSION,
            .n_entries = sizeof(layout) / sizeof(uint32_t) - 2,
            .runtime_workers = offsetof(fi_runtime, workers),
            .runtime_n_workers = offsetof(fi_runtime, n_workers),
            .runtime_stack_pool = offsetof(fi_runtime, stack_pool),
            .runtime_sized_pools = offsetof(fi_runtime, sized_pools),
            .n_sized_pools = FI_STACK_SIZES,
            .pool_size = sizeof(fi_stack_pool),
            .pool_slabs = offsetof(fi_stack_pool, all),
            .slab_next = offsetof(fi_stack_slab, next_of_all),
            .slab_stacks = offsetof(fi_stack_slab, stacks),
            .slab_fresh = offsetof(fi_stack_slab, fresh),
            .stack_size = sizeof(fi_stack),
            .stack_low = offsetof(fi_stack, low),
            .stack_bytes = offsetof(fi_stack, size),
            .stack_in_use = offsetof(fi_stack, in_use),
            .worker_size = sizeof(fi_worker),
            .worker_current = offsetof(fi_worker, current),
            .fiber_busy = offsetof(fi_fiber, busy),
            .fiber_waiting = offsetof(fi_fiber, waiting),
            .fiber_name = offsetof(fi_fiber, stack_bounds.name),
            .fiber_body = offsetof(fi_fiber, body),
            .fiber_registers = offsetof(fi_fiber, ctx.regs),
            .waiter_kind = offsetof(fi_waiter, reason.kind),
            .waiter_object = offsetof(fi_waiter, reason.object),
        },
    .runtime = &runtime,
};
