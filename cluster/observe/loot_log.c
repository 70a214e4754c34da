/* A growing array with a limit. */
#include "observe/loot_log.h"

#include <stdbool.h>
#include <stdlib.h>

#define CAPACITY_MIN 1024u

void fi_loot_log_init(fi_loot_log *log)
{
    *log = (fi_loot_log){0};
}

static bool log_grow(fi_loot_log *log)
{
    size_t capacity = log->capacity > 0 ? 2 * log->capacity : CAPACITY_MIN;
    fi_loot *entries;

    if (capacity > FI_LOOT_LOG_MAX)
        return false;
    entries = realloc(log->entries, capacity * sizeof *entries);
    if (!entries)
        return false;
    log->entries = entries;
    log->capacity = capacity;
    return true;
}

/* Keep the first entries and drop later ones.  The two ends of a loot are in the logs of two ranks.
 * They are close in time, so most loots then have both ends or none. */
void fi_loot_log_append(fi_loot_log *log, const fi_loot *entry)
{
    if (log->n == log->capacity && !log_grow(log)) {
        log->dropped++;
        return;
    }
    log->entries[log->n++] = *entry;
}

void fi_loot_log_fini(fi_loot_log *log)
{
    free(log->entries);
    fi_loot_log_init(log);
}
