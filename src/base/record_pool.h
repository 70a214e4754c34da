/* Pools of small records of one size (sched/records.c).  Allocating and freeing take no lock and
 * touch no shared counter.
 *
 * A record may be freed into another pool than it came from.  A pool with too many free
 * records flushes a magazine of them into the depot, which all pools of one record size share.
 * Records stay allocated until the runtime stops, or longer if the user still holds some
 * (record_orphan.c).
 *
 * The next user of a record may have another type, and writes plain fields over atomic ones.  So
 * the caller of fi_record_pool_free must have acquired every earlier access to the record. */
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
    struct fi_record *next_magazine; /* in the depot, of the first record of a magazine */
} fi_record;

#define FI_RECORDS_PER_SLAB 63 /* also the size of a magazine */
#define FI_RECORD_CACHE_MAX ((size_t)4 * FI_RECORDS_PER_SLAB)

/* Bytes at the start of a record that stay readable while it is free: the links, and data that its
 * users keep from one use to the next. */
#define FI_RECORD_HEAD 40u

typedef struct fi_record_slab {
    FI_CACHE_ALIGNED struct fi_record_slab *next; /* the records follow */
    /* In the first slab of a pool that outlives its runtime (record_orphan.c). */
    struct fi_record_slab *next_orphan;
    uint64_t owner;
    size_t in_use; /* records */
} fi_record_slab;

/* Full magazines for all pools of a runtime with this record size. */
typedef struct fi_record_depot {
    size_t size; /* of a record: a multiple of FI_CACHE_LINE */
    FI_CACHE_ALIGNED FI_ATOMIC(fi_record *) magazines;
    fi_lock pop_lock;
} fi_record_depot;

typedef struct fi_record_pool {
    fi_record *free;
    size_t n; /* free records */
    fi_record_slab *slabs;
    size_t n_slabs;
    fi_record_depot *depot;
} fi_record_pool;

/* [any] */
void fi_record_depot_init(fi_record_depot *d, size_t size);

/* [any] Push a full magazine, or pop one.  NULL: the depot is empty. */
void fi_record_depot_push(fi_record_depot *d, fi_record *magazine);
fi_record *fi_record_depot_pop(fi_record_depot *d);

/* [owner] */
void fi_record_pool_init(fi_record_pool *p, fi_record_depot *depot);

/* [owner of an empty pool] Get a magazine from the depot, or allocate a slab.  False: no memory. */
bool fi_record_pool_refill(fi_record_pool *p);

/* [owner of a pool with a magazine or more] Move a magazine to the depot. */
void fi_record_pool_flush(fi_record_pool *p);

/* [owner of a pool that is not empty] Pop the first free record, which stays poisoned. */
static inline fi_record *fi_record_pool_pop(fi_record_pool *p)
{
    fi_record *r = p->free;

    p->free = r->next;
    p->n--;
    return r;
}

/* [owner] An uninitialised record.  NULL: no memory. */
static inline void *fi_record_pool_alloc(fi_record_pool *p)
{
    fi_record *r;

    if (!p->free && !fi_record_pool_refill(p))
        return NULL;
    r = fi_record_pool_pop(p);
    fi_unpoison(r, p->depot->size);
    return r;
}

/* [any] Poison the record, except for its first bytes. */
static inline void fi_record_poison(void *record, size_t size)
{
    fi_poison((char *)record + FI_RECORD_HEAD, size - FI_RECORD_HEAD);
}

/* [owner] */
static inline void fi_record_pool_free(fi_record_pool *p, void *record)
{
    fi_record *r = record;

    r->next = p->free;
    p->free = r;
    fi_record_poison(r, p->depot->size);
    if (++p->n > FI_RECORD_CACHE_MAX)
        fi_record_pool_flush(p);
}

/* [owner, when no pool of the runtime is used any more] */
void fi_record_pool_fini(fi_record_pool *p);

/* [the same] Move all records of `from` to another pool of the same depot. */
void fi_record_pool_merge(fi_record_pool *to, fi_record_pool *from);

/* [the same, after all other pools of the depot were merged into this one] Free the records.  If
 * some are still in use, all of them stay until the last of those is freed.  owner: a number that
 * identifies the pool. */
void fi_record_pool_end(fi_record_pool *p, uint64_t owner);

/* [any] Free a record of an ended pool.  owner: the number of the pool. */
void fi_record_orphan_free(uint64_t owner, void *record, size_t size);

/* [any] The size in bytes of a slab of records of this size. */
static inline size_t fi_record_slab_size(size_t record_size)
{
    return sizeof(fi_record_slab) + FI_RECORDS_PER_SLAB * record_size;
}

/* [any] Free a list of slabs. */
void fi_record_slabs_free(fi_record_slab *slabs, size_t record_size);

#endif
