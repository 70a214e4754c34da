/* Names that outlive those who have them, each kept once and known by a number.  For logs, whose events have no room for a name, and
 * whose readers come when the memory of a name may be something else.  Names are only ever added. */
#ifndef FI_BASE_INTERN_H
#define FI_BASE_INTERN_H

#include "base/lock.h"

#include <stdint.h>

#define FI_INTERN_MAX   4096u
#define FI_INTERN_SIZE  64u /* with the zero at its end; the rest of a longer one is lost */
#define FI_INTERN_CACHE 16u

typedef struct fi_intern {
    fi_lock lock;
    uint32_t n;
    uint16_t table[2 * FI_INTERN_MAX];        /* by hash; 0: empty */
    char text[FI_INTERN_MAX][FI_INTERN_SIZE]; /* from 1 */
} fi_intern;

/* What one thread remembers, so that it seldom needs the lock. */
typedef struct fi_intern_cache {
    uint32_t number[FI_INTERN_CACHE];
} fi_intern_cache;

/* [any; known: its own] The number of a name, from 1; 0: there is no room for one more. */
uint32_t fi_intern_id(fi_intern *names, fi_intern_cache *known, const char *name);

/* [any, who got the number from somebody] */
static inline const char *fi_intern_text(const fi_intern *names, uint32_t number)
{
    return names->text[number];
}

#endif
