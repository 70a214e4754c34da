#include "base/intern.h"

#include <string.h>

#define LONGEST (FI_INTERN_SIZE - 1)

/* FNV-1a. */
static uint32_t hash_of(const char *name)
{
    uint32_t h = 2166136261u;

    for (size_t i = 0; i < LONGEST && name[i]; i++)
        h = (h ^ (unsigned char)name[i]) * 16777619u;
    return h ^ h >> 16;
}

static bool is_named(const fi_intern *names, uint32_t number, const char *name)
{
    return strncmp(names->text[number], name, LONGEST) == 0;
}

/* [lock held] */
static uint32_t find_or_add(fi_intern *names, const char *name)
{
    uint32_t at = hash_of(name) % (2 * FI_INTERN_MAX);

    while (names->table[at]) {
        if (is_named(names, names->table[at], name))
            return names->table[at];
        at = (at + 1) % (2 * FI_INTERN_MAX);
    }
    if (names->n + 1 == FI_INTERN_MAX)
        return 0;
    names->n++;
    strncpy(names->text[names->n], name, LONGEST); /* the last byte is zero already */
    names->table[at] = (uint16_t)names->n;
    return names->n;
}

/* A number that is remembered was found under the lock, and its text never changes: it can be read without. */
uint32_t fi_intern_id(fi_intern *names, fi_intern_cache *known, const char *name)
{
    uint32_t *last = &known->number[(uintptr_t)name / 8 % FI_INTERN_CACHE];

    if (*last && is_named(names, *last, name))
        return *last;
    fi_lock_lock(&names->lock);
    *last = find_or_add(names, name);
    fi_lock_unlock(&names->lock);
    return *last;
}
