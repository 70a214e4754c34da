/* Hooks of a runtime that src/observe implements.  The scheduler does not know what they do. */
#ifndef FI_SCHED_HOOKS_H
#define FI_SCHED_HOOKS_H

#include <stdbool.h>

typedef struct fi_runtime fi_runtime;

/* Incidents that are reported to the observer. */
typedef enum fi_incident {
    FI_INCIDENT_SIGNAL,   /* a dump was requested: filch_config.dump_signal */
    FI_INCIDENT_DEADLOCK, /* no fiber can continue */
    FI_INCIDENT_LONG_RUN, /* a fiber holds its worker for too long */
    FI_INCIDENT_EXIT,     /* the process exits while workers run */
} fi_incident;

typedef struct fi_hooks {
    /* [the thread that starts the runtime] All is initialised, and no worker runs yet.  Returns 0,
     * or -errno after a message on stderr, and the runtime is not started. */
    int (*begin)(fi_runtime *rt);
    /* [the thread that stops it] All threads have ended.  has_run is false if none was started. */
    void (*end)(fi_runtime *rt, bool has_run);
    /* [watchdog; or the thread that calls exit()] Workers may run meanwhile. */
    void (*incident)(fi_runtime *rt, fi_incident why);
} fi_hooks;

/* observe/observe.c.  This is the only name of a higher layer that the scheduler refers to. */
extern const fi_hooks fi_observe_hooks;

#endif
