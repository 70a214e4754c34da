/* Lab settings have no field in filch_config: a start of the runtime reads them from the
 * environment. */
#ifndef TESTS_LAB_SETTINGS_H
#define TESTS_LAB_SETTINGS_H

#include <stdio.h>
#include <stdlib.h>

/* The kinds that the runtime accepts.  half is tested without the runtime. */
static const char *const lab_deques[] = {"locked", "bounded", "batch"};
#define LAB_DEQUES (sizeof lab_deques / sizeof *lab_deques)

/* NULL or 0: the default. */
typedef struct lab_settings {
    const char *deque;     /* FILCH_DEQUE */
    const char *publish;   /* FILCH_PUBLISH */
    unsigned steal_batch;  /* FILCH_STEAL_BATCH */
    const char *search_ns; /* FILCH_SEARCH_NS */
} lab_settings;

static inline void set_or_unset(const char *variable, const char *value)
{
    if (value)
        setenv(variable, value, 1);
    else
        unsetenv(variable);
}

/* For all starts until the next call. */
static inline void set_lab_settings(lab_settings s)
{
    char batch[16];

    snprintf(batch, sizeof batch, "%u", s.steal_batch);
    set_or_unset("FILCH_DEQUE", s.deque);
    set_or_unset("FILCH_PUBLISH", s.publish);
    set_or_unset("FILCH_STEAL_BATCH", s.steal_batch ? batch : NULL);
    set_or_unset("FILCH_SEARCH_NS", s.search_ns);
}

#endif
