#include "base/intern.h"

#include <string.h>

#define LENGTH_MAX (FI_INTERN_SIZE - 1)

/* FNV-1a. */
static uint32_t hash_of(const char *name)
{
    uint32_t h = 2166136261u;

    for (size_t i = 0; i < LENGTH_MAX && name[i]; i++)
        h = (h ^ (unsigned char)name[i]) * 16777619u;
    return h ^ h >> 16;
}

static bool is_name(const fi_intern *names, uint32_t id, const char *name)
{
    return strncmp(names->text[id], name, LENGTH_MAX) == 0;
}

/* [lock held] */
static uint32_t find_or_add(fi_intern *names, const char *name)
{
    uint32_t at = hash_of(name) % (2 * FI_INTERN_MAX);

    while (names->table[at]) {
        if (is_name(names, names->table[at], name))
            return names->table[at];
        at = (at + 1) % (2 * FI_INTERN_MAX);
    }
    if (names->n + 1 == FI_INTERN_MAX)
        return 0;
    names->n++;
    strncpy(names->text[names->n], name, LENGTH_MAX); /* the last byte stays 0 */
    names->table[at] = (uint16_t)names->n;
    return names->n;
}

/* The text of a cached number was seen under the lock and never changes, so reading it needs no
 * lock. */
uint32_t fi_intern_id(fi_intern *names, fi_intern_cache *cache, const char *name)
{
    uint32_t *cached = &cache->id[(uintptr_t)name / 8 % FI_INTERN_CACHE];

    if (*cached && is_name(names, *cached, name))
        return *cached;
    fi_lock_lock(&names->lock);
    *cached = find_or_add(names, name);
    fi_lock_unlock(&names->lock);
    return *cached;
}
