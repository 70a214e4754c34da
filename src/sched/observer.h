/* Who looks at a runtime from the floor above, without being known here. */
#ifndef FI_SCHED_OBSERVER_H
#define FI_SCHED_OBSERVER_H

#include <stdbool.h>

typedef struct fi_runtime fi_runtime;

/* What is wrong, or at least remarkable. */
typedef enum fi_alarm {
    FI_ALARM_SIGNAL,   /* somebody wants to know what goes on: filch_config.dump_signal */
    FI_ALARM_DEADLOCK, /* nothing goes on, and nothing can */
    FI_ALARM_HELD,     /* a fiber keeps its worker for too long */
    FI_ALARM_EXIT,     /* the process ends, and workers still run */
} fi_alarm;

typedef struct fi_observer {
    /* [who starts the runtime] All is made, and no worker runs yet.  0; or -errno, after a line on stderr: there will be
     * no runtime. */
    int (*begin)(fi_runtime *rt);
    /* [who stops it] All threads have ended; false: none ever began. */
    void (*end)(fi_runtime *rt, bool has_run);
    /* [watcher; or who calls exit()] Workers may run meanwhile. */
    void (*alarm)(fi_runtime *rt, fi_alarm why);
} fi_observer;

/* observe/observe.c: the one place where a lower floor names something of a higher one, as nobody else would call it. */
extern const fi_observer fi_observer_above;

#endif
