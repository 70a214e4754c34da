/* The list of all kinds, in the order of docs/memory-model.md. */
#include "explore/kind.h"

#include <stddef.h>

extern const kind bounded_kind, batch_kind, half_kind, locked_kind, use_count_kind, idle_kind,
    poll_kind, task_bounds_kind, ticket_kind, oneshot_kind, rundown_kind, record_pool_kind,
    pending_kind, deps_kind, ref_kind, biased_lock_kind, fiber_pin_kind, freeze_kind, cancel_kind,
    timer_kind, init_flag_kind, eventcount_kind, syscall_guard_kind, watchdog_state_kind,
    event_ring_kind, doorbell_kind;

const kind *const kinds[] = {&bounded_kind,     &batch_kind,         &half_kind,
                             &locked_kind,      &use_count_kind,     &idle_kind,
                             &poll_kind,        &task_bounds_kind,   &ticket_kind,
                             &oneshot_kind,     &rundown_kind,       &record_pool_kind,
                             &pending_kind,     &deps_kind,          &ref_kind,
                             &biased_lock_kind, &fiber_pin_kind,     &freeze_kind,
                             &cancel_kind,      &timer_kind,         &init_flag_kind,
                             &eventcount_kind,  &syscall_guard_kind, &watchdog_state_kind,
                             &event_ring_kind,  &doorbell_kind,      NULL};
