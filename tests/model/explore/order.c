/* The memory order of an operation: as written, or as weakened by the check. */
#include "explore/memory.h"

#include <string.h>

static unsigned check_number; /* distinguishes the cached orders of one check from the next */

void order_new_check(void)
{
    check_number++;
}

static bool weakened(const char *label, order *to)
{
    for (int i = 0; i < MAX_WEAKENINGS; i++) {
        const weakening *w = &m.check->weaken[i];
        if (w->label && strcmp(w->label, label) == 0) {
            *to = w->to;
            return true;
        }
    }
    return false;
}

order order_of(site *s)
{
    if (s->check != check_number) {
        s->check = check_number;
        if (!weakened(s->label, &s->now))
            s->now = s->written;
    }
    return s->now;
}

void order_refuse(const site *s, order o)
{
    x_fail(WRONG, "%s cannot be made %s", s->label, order_name(o));
}

order order_among(site *s, order a, order b, order c)
{
    order o = order_of(s);
    if (o != s->written && o != a && o != b && o != c)
        order_refuse(s, o);
    return o;
}

bool x_fault(const char *label)
{
    order ignored;
    return weakened(label, &ignored);
}
