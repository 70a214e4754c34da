/* A table of interned names.  Each name is stored once and identified by a number.  Event logs need
 * it: an event has no space for a name, and is read when the memory of the name may have been
 * freed. Names are never removed. */
#ifndef FI_BASE_INTERN_H
#define FI_BASE_INTERN_H

#include "base/lock.h"

#include <stdint.h>

#define FI_INTERN_MAX   4096u /* names, including the unused number 0 */
#define FI_INTERN_SIZE  64u   /* bytes of a name with its zero; longer names are truncated */
#define FI_INTERN_CACHE 16u

typedef struct fi_intern {
    fi_lock lock;
    uint32_t n;
    uint16_t table[2 * FI_INTERN_MAX];        /* open addressing by hash; 0: free */
    char text[FI_INTERN_MAX][FI_INTERN_SIZE]; /* from 1 */
} fi_intern;

/* The latest numbers of one thread, so that it seldom needs the lock. */
typedef struct fi_intern_cache {
    uint32_t id[FI_INTERN_CACHE];
} fi_intern_cache;

/* [any; cache: the caller's] The number of a name, from 1.  0: the table is full. */
uint32_t fi_intern_id(fi_intern *names, fi_intern_cache *cache, const char *name);

/* [any thread that synchronised with a caller of fi_intern_id] */
static inline const char *fi_intern_text(const fi_intern *names, uint32_t id)
{
    return names->text[id];
}

#endif
