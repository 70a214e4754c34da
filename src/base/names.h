/* Names that outlive those who have them, each kept once and known by a number.  For logs, whose events have no room for a name, and
 * whose readers come when the memory of a name may be something else.  Names are only ever added. */
#ifndef FI_BASE_NAMES_H
#define FI_BASE_NAMES_H

#include "base/lock.h"

#include <stdint.h>

#define FI_NAMES_MAX   4096u
#define FI_NAME_SIZE   64u /* with the zero at its end; the rest of a longer one is lost */
#define FI_NAMES_KNOWN 16u

typedef struct fi_names {
    fi_lock lock;
    uint32_t n;
    uint16_t table[2 * FI_NAMES_MAX];      /* by hash; 0: empty */
    char text[FI_NAMES_MAX][FI_NAME_SIZE]; /* from 1 */
} fi_names;

/* What one thread remembers, so that it seldom needs the lock. */
typedef struct fi_names_known {
    uint32_t number[FI_NAMES_KNOWN];
} fi_names_known;

/* [any; known: its own] The number of a name, from 1; 0: there is no room for one more. */
uint32_t fi_names_number(fi_names *names, fi_names_known *known, const char *name);

/* [any, who got the number from somebody] */
static inline const char *fi_names_text(const fi_names *names, uint32_t number)
{
    return names->text[number];
}

#endif
