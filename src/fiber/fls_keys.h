/* The keys of fiber-local storage and their destructors.
 *
 * A key is an index into the tables and a generation.  Freeing a key ends its generation, so the
 * next key of the same index has another number, and values set under the freed key do not belong
 * to it.  An index whose generations are used up is not used again. */
#ifndef FI_FIBER_FLS_KEYS_H
#define FI_FIBER_FLS_KEYS_H

#include "base/atomic.h"
#include "base/init_flag.h"
#include "base/lock.h"

#include <filch/fiber.h>

#include <errno.h>
#include <limits.h>
#include <stdbool.h>

#define FI_FLS_GENERATIONS_MAX (INT_MAX / FILCH_FLS_MAX)

typedef void fi_destroyer(void *value);

typedef struct fi_fls_keys {
    fi_lock lock;
    FI_ATOMIC(int) state[FILCH_FLS_MAX]; /* 2 * generation, and 1 more while there is a key */
    FI_ATOMIC(fi_destroyer *) destroyer[FILCH_FLS_MAX];
} fi_fls_keys;

/* [any] The table index of a key.  The key need not exist. */
static inline int fi_fls_keys_index(int key)
{
    return key % FILCH_FLS_MAX;
}

/* [any] True: the key exists, and its destructor is visible. */
static inline bool fi_fls_keys_exists(fi_fls_keys *p, int key)
{
    return key >= 0 &&
           fi_init_get(&p->state[fi_fls_keys_index(key)]) == 2 * (key / FILCH_FLS_MAX) + 1;
}

/* [any] The destructor of a key that exists. */
static inline fi_destroyer *fi_fls_keys_destroyer(fi_fls_keys *p, int key)
{
    return fi_load_relaxed(&p->destroyer[fi_fls_keys_index(key)]);
}

/* [lock held] An index without a key, or -1.  Relaxed: states change under the lock. */
static inline int fi_fls_keys_free_index(fi_fls_keys *p)
{
    for (int i = 0; i < FILCH_FLS_MAX; i++) {
        int state = fi_load_relaxed(&p->state[i]);
        if (state % 2 == 0 && state / 2 < FI_FLS_GENERATIONS_MAX)
            return i;
    }
    return -1;
}

/* [any] A new key, or -EAGAIN.  The destructor is stored before the key exists. */
static inline int fi_fls_keys_add(fi_fls_keys *p, fi_destroyer *destroy)
{
    int i, key = -EAGAIN;

    fi_lock_lock(&p->lock);
    i = fi_fls_keys_free_index(p);
    if (i >= 0) {
        int state = fi_load_relaxed(&p->state[i]);
        fi_store_relaxed(&p->destroyer[i], destroy);
        fi_init_set(&p->state[i], state + 1);
        key = state / 2 * FILCH_FLS_MAX + i;
    }
    fi_lock_unlock(&p->lock);
    return key;
}

/* [any] Free a key: 0, or -EINVAL.  Relaxed: removing a key publishes nothing. */
static inline int fi_fls_keys_remove(fi_fls_keys *p, int key)
{
    bool found;

    fi_lock_lock(&p->lock);
    found = fi_fls_keys_exists(p, key);
    if (found) {
        int i = fi_fls_keys_index(key);
        fi_store_relaxed(&p->state[i], fi_load_relaxed(&p->state[i]) + 1);
    }
    fi_lock_unlock(&p->lock);
    return found ? 0 : -EINVAL;
}

#endif
