/* Functions of higher layers that the scheduler calls through pointers.  src/hooks.c sets them. */
#ifndef FI_SCHED_HOOKS_H
#define FI_SCHED_HOOKS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct fi_runtime fi_runtime;

/* Incidents that are reported to the observers. */
typedef enum fi_incident {
    FI_INCIDENT_SIGNAL,   /* a dump was requested: filch_config.dump_signal */
    FI_INCIDENT_DEADLOCK, /* no fiber can continue */
    FI_INCIDENT_LONG_RUN, /* a fiber holds its worker for too long */
    FI_INCIDENT_EXIT,     /* the process exits while workers run */
} fi_incident;

typedef struct fi_hooks {
    /* [the thread that starts the runtime] All is initialised, and no worker runs yet.  Returns 0,
     * or -errno after a message, and the runtime is not started. */
    int (*observe_begin)(fi_runtime *rt);
    /* [the thread that stops it] All threads have ended.  has_run is false if none was started. */
    void (*observe_end)(fi_runtime *rt, bool has_run);
    /* [watchdog; or the thread that calls exit()] Workers may run meanwhile. */
    void (*incident)(fi_runtime *rt, fi_incident why);

    /* [the thread that starts the runtime, when workers run; the thread that stops it, when no work
     * is left] */
    void (*debug_begin)(fi_runtime *rt);
    void (*debug_end)(fi_runtime *rt);
    /* [watchdog] Monitor the workers until rt->watchdog.stopping is set. */
    void (*watchdog_main)(fi_runtime *rt);
    /* [worker that has nothing to do, maybe a searcher] Check in place of a watchdog that could not
     * be started.  Returns: the time until which the worker may sleep. */
    int64_t (*watchdog_check)(fi_runtime *rt, bool searching);
} fi_hooks;

extern const fi_hooks fi_runtime_hooks;

#endif
