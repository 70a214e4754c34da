/* Small records for the floor above (tickets, work of groups, jobs), from a pool of each worker: no lock and no
 * shared counter on the way.  A record may be given back to another worker's pool than it is from, so
 * a pool that has too many hands some on to the others, without a lock.  All records live until the runtime
 * stops, unless their users still have some (fi_record_pool_end).
 *
 * The next user of a record may be of another type, and writes plain fields over atomic ones.  So
 * the caller of fi_record_free must have acquired every earlier access to the record. */
#ifndef FI_BASE_RECORD_POOL_H
#define FI_BASE_RECORD_POOL_H

#include "base/atomic.h"
#include "base/compiler.h"
#include "base/lock.h"
#include "base/poison.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct fi_record {
    FI_CACHE_ALIGNED struct fi_record *next;
    struct fi_record *next_magazine; /* of the first in a bundle that is shared */
} fi_record;

#define FI_RECORDS_PER_SLAB 63 /* also how many are handed on at once */
#define FI_RECORD_CACHE_MAX ((size_t)4 * FI_RECORDS_PER_SLAB)

/* Bytes at the beginning of a record that stay readable while it is free: the links, and data that
 * its users keep from one use to the next. */
#define FI_RECORD_HEAD 32u

typedef struct fi_record_slab {
    FI_CACHE_ALIGNED struct fi_record_slab *next; /* the records follow */
    /* In the first of the slabs that outlive their runtime (record_left.c). */
    struct fi_record_slab *next_left;
    uint64_t owner;
    size_t in_use; /* records */
} fi_record_slab;

/* What some pools have too much of, for all pools of a runtime with records of one size. */
typedef struct fi_record_depot {
    size_t size; /* of a record: a multiple of FI_CACHE_LINE */
    FI_CACHE_ALIGNED FI_ATOMIC(fi_record *) bundles;
    fi_lock takers;
} fi_record_depot;

typedef struct fi_record_pool {
    fi_record *free;
    size_t n; /* of them */
    fi_record_slab *slabs;
    size_t slabs_n;
    fi_record_depot *share;
} fi_record_pool;

/* [any] */
void fi_record_depot_init(fi_record_depot *s, size_t size);

/* [any] A bundle for whoever needs one; NULL: there is none. */
void fi_record_depot_push(fi_record_depot *s, fi_record *bundle);
fi_record *fi_record_depot_pop(fi_record_depot *s);

/* [owner] */
void fi_record_pool_init(fi_record_pool *p, fi_record_depot *share);

/* [owner, whose pool has none or too many] */
bool fi_record_pool_refill(fi_record_pool *p);
void fi_record_pool_flush(fi_record_pool *p);

/* [owner, whose pool is not empty] The first free record, which stays poisoned. */
static inline fi_record *fi_record_pop(fi_record_pool *p)
{
    fi_record *r = p->free;

    p->free = r->next;
    p->n--;
    return r;
}

/* [owner] A record with anything in it; NULL when there is no memory. */
static inline void *fi_record_alloc(fi_record_pool *p)
{
    fi_record *r;

    if (!p->free && !fi_record_pool_refill(p))
        return NULL;
    r = fi_record_pop(p);
    fi_unpoison(r, p->share->size);
    return r;
}

/* [any] Poison the record, except for its first bytes. */
static inline void fi_record_poison(void *record, size_t size)
{
    fi_poison((char *)record + FI_RECORD_HEAD, size - FI_RECORD_HEAD);
}

/* [owner] */
static inline void fi_record_free(fi_record_pool *p, void *record)
{
    fi_record *r = record;

    r->next = p->free;
    p->free = r;
    fi_record_poison(r, p->share->size);
    if (++p->n > FI_RECORD_CACHE_MAX)
        fi_record_pool_flush(p);
}

/* [owner, when all pools of the runtime are out of use] */
void fi_record_pool_fini(fi_record_pool *p);

/* [the same] Move all records of `from` to another pool of the same share. */
void fi_record_pool_merge(fi_record_pool *to, fi_record_pool *from);

/* [the same, and all others of the share are merged into this one] Free the records.  If some are
 * still in use, all of them stay until the last of those is freed.  owner: a number that identifies
 * the pool. */
void fi_record_pool_end(fi_record_pool *p, uint64_t owner);

/* [any] Free a record of an ended pool.  owner: the number of the pool. */
void fi_record_left_put(uint64_t owner, void *record, size_t size);

/* [any] The size in bytes of a slab of records of this size. */
static inline size_t fi_record_slab_size(size_t record_size)
{
    return sizeof(fi_record_slab) + FI_RECORDS_PER_SLAB * record_size;
}

/* [any] Free a list of slabs. */
void fi_record_slabs_free(fi_record_slab *slabs, size_t record_size);

#endif
