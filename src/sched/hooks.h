/* Who looks at a runtime from the floor above, without being known here. */
#ifndef FI_SCHED_HOOKS_H
#define FI_SCHED_HOOKS_H

#include <stdbool.h>

typedef struct fi_runtime fi_runtime;

/* What is wrong, or at least remarkable. */
typedef enum fi_incident {
    FI_INCIDENT_SIGNAL,   /* somebody wants to know what goes on: filch_config.dump_signal */
    FI_INCIDENT_DEADLOCK, /* nothing goes on, and nothing can */
    FI_INCIDENT_LONG_RUN, /* a fiber keeps its worker for too long */
    FI_INCIDENT_EXIT,     /* the process ends, and workers still run */
} fi_incident;

typedef struct fi_hooks {
    /* [who starts the runtime] All is made, and no worker runs yet.  0; or -errno, after a line on stderr: there will be
     * no runtime. */
    int (*begin)(fi_runtime *rt);
    /* [who stops it] All threads have ended; false: none ever began. */
    void (*end)(fi_runtime *rt, bool has_run);
    /* [watcher; or who calls exit()] Workers may run meanwhile. */
    void (*incident)(fi_runtime *rt, fi_incident why);
} fi_hooks;

/* observe/observe.c: the one place where a lower floor names something of a higher one, as nobody else would call it. */
extern const fi_hooks fi_observe_hooks;

#endif
