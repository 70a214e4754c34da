/* Sets the functions of src/debug and src/observe that the scheduler calls. */
#include "sched/hooks.h"

#include "debug/watchdog.h"
#include "observe/observe.h"

const fi_hooks fi_runtime_hooks = {
    .observe_begin = fi_observers_begin,
    .observe_end = fi_observers_end,
    .incident = fi_observers_incident,
    .debug_begin = fi_debug_begin,
    .debug_end = fi_debug_end,
    .watchdog_main = fi_debug_watchdog_main,
    .watchdog_check = fi_debug_watchdog_check,
};
