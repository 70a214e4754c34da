/* Small records for the floor above (tickets are such), from a pool of each worker: no lock and no
 * shared counter on the way.  A record may be given back to another worker's pool than it is from;
 * all of them live until the runtime stops. */
#ifndef FI_SCHED_RECORD_H
#define FI_SCHED_RECORD_H

#include "base/cache.h"

#include <stddef.h>

typedef struct fi_record {
    FI_CACHE_ALIGNED struct fi_record *next;
} fi_record;

#define FI_RECORDS_PER_SLAB 63

typedef struct fi_record_slab {
    struct fi_record_slab *next;
    fi_record records[FI_RECORDS_PER_SLAB];
} fi_record_slab;

typedef struct fi_record_pool {
    fi_record *free;
    fi_record_slab *slabs;
} fi_record_pool;

/* [owner] A record of FI_CACHE_LINE bytes with anything in it; NULL when there is no memory. */
void *fi_record_get(fi_record_pool *p);

/* [owner] */
void fi_record_put(fi_record_pool *p, void *record);

/* [owner, when all pools of the runtime are out of use] */
void fi_record_pool_fini(fi_record_pool *p);

#endif
