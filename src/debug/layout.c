/* The table of offsets and addresses that debuggers need: tools/filch-gdb.py, filch top and filch
 * dump.  They need no debug information of the library.  They find an entry by its name, so entries
 * may be added and moved.  A reader that misses a name belongs to another version.
 *
 * An ELF note leads to the table in programs that were stripped or linked statically: its
 * descriptor is the distance from the descriptor to the table. */
#include "debug/layout.h"

#include "sched/worker.h"
#include "stack/slab.h"
#include "wait/waitq.h"

#include <stddef.h>

static fi_runtime *runtime;

void fi_layout_set_runtime(fi_runtime *rt)
{
    runtime = rt;
}

#define VERSION 2

typedef struct layout_entry {
    char name[24];
    union {
        uint64_t number;
        const void *address;
    } value;
} layout_entry;

#define NUMBER(key, n)                                                                             \
    {                                                                                              \
        .name = (key), .value.number = (n)                                                         \
    }
#define ADDRESS(key, a)                                                                            \
    {                                                                                              \
        .name = (key), .value.address = (a)                                                        \
    }
#define COUNTER(field) NUMBER("worker_" #field, offsetof(fi_worker, counters.field))

static const layout_entry entries[] = {
    ADDRESS("runtime", &runtime),
    NUMBER("runtime_workers", offsetof(fi_runtime, workers)),
    NUMBER("runtime_n_workers", offsetof(fi_runtime, n_workers)),
    NUMBER("runtime_fork_child", offsetof(fi_runtime, in_fork_child)),
    NUMBER("runtime_poller", offsetof(fi_runtime, poller)),
    NUMBER("runtime_global", offsetof(fi_runtime, global.n)),
    NUMBER("runtime_high", offsetof(fi_runtime, high_queue.n)),
    NUMBER("runtime_low", offsetof(fi_runtime, low_queue.n)),
    NUMBER("runtime_stack_pool", offsetof(fi_runtime, stack_pool)),
    NUMBER("runtime_sized_pools", offsetof(fi_runtime, sized_pools)),
    NUMBER("n_sized_pools", FI_STACK_SIZES),
    NUMBER("poller_name", offsetof(fi_poller, name)),
    NUMBER("pool_size", sizeof(fi_stack_pool)),
    NUMBER("pool_slabs", offsetof(fi_stack_pool, all)),
    NUMBER("slab_next", offsetof(fi_stack_slab, next_of_all)),
    NUMBER("slab_stacks", offsetof(fi_stack_slab, stacks)),
    NUMBER("slab_fresh", offsetof(fi_stack_slab, fresh)),
    NUMBER("stack_size", sizeof(fi_stack)),
    NUMBER("stack_low", offsetof(fi_stack, low)),
    NUMBER("stack_bytes", offsetof(fi_stack, size)),
    NUMBER("stack_in_use", offsetof(fi_stack, in_use)),
    NUMBER("worker_size", sizeof(fi_worker)),
    NUMBER("worker_current", offsetof(fi_worker, current)),
    NUMBER("worker_leaving", offsetof(fi_worker, leaving)),
    NUMBER("worker_deque", offsetof(fi_worker, deque)),
    NUMBER("worker_ready", offsetof(fi_worker, ready.n)),
    NUMBER("worker_inbox", offsetof(fi_worker, inbox.n)),
    NUMBER("worker_sleeper", offsetof(fi_worker, sleeper.asleep)),
    COUNTER(steals_single),
    COUNTER(steals_multiple),
    COUNTER(steals_failed),
    COUNTER(parks),
    COUNTER(sleeps),
    COUNTER(jobs_ended),
    COUNTER(starts_ended),
    NUMBER("sleeper_asleep", FI_ASLEEP),
    NUMBER("sleeper_lent", FI_LENT),
    NUMBER("deque_ops", offsetof(fi_deque, ops)),
    NUMBER("deque_ops_bottom", offsetof(fi_deque_ops, bottom_offset)),
    NUMBER("deque_ops_top", offsetof(fi_deque_ops, top_offset)),
    NUMBER("fiber_size", sizeof(fi_fiber)),
    NUMBER("fiber_busy", offsetof(fi_fiber, busy)),
    NUMBER("fiber_waiting", offsetof(fi_fiber, waiting)),
    NUMBER("fiber_name", offsetof(fi_fiber, stack_bounds.name)),
    NUMBER("fiber_body", offsetof(fi_fiber, body)),
    NUMBER("fiber_bound", offsetof(fi_fiber, bound)),
#ifndef FI_CTX_BY_UCONTEXT
    NUMBER("fiber_registers", offsetof(fi_fiber, ctx.regs)),
#endif
    NUMBER("waiter_size", sizeof(fi_waiter)),
    NUMBER("waiter_kind", offsetof(fi_waiter, reason.kind)),
    NUMBER("waiter_object", offsetof(fi_waiter, reason.object)),
    NUMBER("waiter_since", offsetof(fi_waiter, since_ns)),
    NUMBER("waiter_waitq", offsetof(fi_waiter, waitq)),
    NUMBER("waiter_try_remove", offsetof(fi_waiter, try_remove)),
    NUMBER("waiter_winner", offsetof(fi_waiter, winner)),
    ADDRESS("multi_try_remove", (const void *)(uintptr_t)fi_waiter_multi_try_remove),
};

/* Exported for debuggers only; not part of the API. */
extern const struct filch_layout_ {
    uint32_t version, n_entries;
    const layout_entry *entries;
} filch_layout_;

/* Hidden: the note refers to it by its distance, which the linker must know. */
extern const struct filch_layout_ fi_layout;

__attribute__((used)) const struct filch_layout_ fi_layout = {
    .version = VERSION,
    .n_entries = sizeof entries / sizeof *entries,
    .entries = entries,
};

extern const struct filch_layout_ filch_layout_
    __attribute__((visibility("default"), alias("fi_layout")));

__asm__(".pushsection .note.filch, \"a\", %note\n\t"
        ".balign 4\n\t"
        ".long 6, 8, 1\n\t" /* sizes of name and descriptor, type */
        ".asciz \"Filch\"\n\t"
        ".balign 4\n\t"
        ".quad fi_layout - .\n\t"
        ".popsection");
