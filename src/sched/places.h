/* The numbers of fiber-local storage, and how what is kept there is destroyed.  They are never taken back. */
#ifndef FI_SCHED_PLACES_H
#define FI_SCHED_PLACES_H

#include "base/atomic.h"
#include "base/init_flag.h"
#include "base/lock.h"

#include <filch/fiber.h>

#include <errno.h>

typedef void fi_destroyer(void *value);

typedef struct fi_places {
    fi_lock lock;
    FI_ATOMIC(int) n;
    FI_ATOMIC(fi_destroyer *) destroyer[FILCH_FLS_MAX];
} fi_places;

/* [any] The number, or -EAGAIN.  The destroyer comes before the number that it is known by. */
static inline int fi_places_add(fi_places *p, fi_destroyer *destroy)
{
    int place;

    fi_lock_lock(&p->lock);
    place = fi_load_relaxed(&p->n);
    if (place < FILCH_FLS_MAX) {
        fi_store_relaxed(&p->destroyer[place], destroy);
        fi_init_set(&p->n, place + 1);
    }
    fi_lock_unlock(&p->lock);
    return place < FILCH_FLS_MAX ? place : -EAGAIN;
}

/* [any] How many there are. */
static inline int fi_places_n(fi_places *p)
{
    return fi_init_get(&p->n);
}

/* [any] Of a place that there is. */
static inline fi_destroyer *fi_places_destroyer(fi_places *p, int place)
{
    return fi_load_relaxed(&p->destroyer[place]);
}

#endif
