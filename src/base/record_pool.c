#include "base/record_pool.h"

#include "base/mem.h"

/* ---- depot ---- */

void fi_record_depot_init(fi_record_depot *d, size_t size)
{
    d->size = size;
    fi_atomic_init(&d->magazines, (fi_record *)NULL);
    fi_lock_init(&d->pop_lock);
}

/* Takes no lock, so a thread that frees never waits. */
void fi_record_depot_push(fi_record_depot *d, fi_record *magazine)
{
    fi_record *first = fi_load_relaxed(&d->magazines);

    do
        magazine->next_magazine = first;
    /* -> record_pool.pop: the list in the magazine */
    while (!fi_cas_release(&d->magazines, &first, magazine, record_pool.push));
}

/* The lock excludes ABA: while one thread pops, no other can pop the first magazine and push it
 * again with another successor. */
fi_record *fi_record_depot_pop(fi_record_depot *d)
{
    fi_record *first;

    if (!fi_load_relaxed(&d->magazines))
        return NULL;
    fi_lock_lock(&d->pop_lock);
    do
        /* <- record_pool.push */
        first = fi_load_acquire(&d->magazines, record_pool.pop);
    while (first && !fi_cas_relaxed(&d->magazines, &first, first->next_magazine));
    fi_lock_unlock(&d->pop_lock);
    return first;
}

/* ---- pools ---- */

void fi_record_pool_init(fi_record_pool *p, fi_record_depot *depot)
{
    *p = (fi_record_pool){.depot = depot};
}

void fi_record_pool_flush(fi_record_pool *p)
{
    fi_record *magazine = NULL;

    for (int i = 0; i < FI_RECORDS_PER_SLAB; i++) {
        fi_record *r = fi_record_pool_pop(p);
        r->next = magazine;
        magazine = r;
    }
    fi_record_depot_push(p->depot, magazine);
}

static bool take_magazine(fi_record_pool *p)
{
    fi_record *magazine = fi_record_depot_pop(p->depot);

    if (!magazine)
        return false;
    p->free = magazine;
    p->n = FI_RECORDS_PER_SLAB;
    return true;
}

static bool add_slab(fi_record_pool *p)
{
    fi_record_slab *slab = fi_mem_alloc(fi_record_slab_size(p->depot->size), FI_CACHE_LINE);

    if (!slab)
        return false;
    slab->next = p->slabs;
    p->slabs = slab;
    p->n_slabs++;
    for (size_t i = FI_RECORDS_PER_SLAB; i-- > 0;)
        fi_record_pool_free(p, (char *)(slab + 1) + i * p->depot->size);
    return true;
}

bool fi_record_pool_refill(fi_record_pool *p)
{
    return take_magazine(p) || add_slab(p);
}

void fi_record_slabs_free(fi_record_slab *slabs, size_t record_size)
{
    size_t size = fi_record_slab_size(record_size);

    while (slabs) {
        fi_record_slab *slab = slabs;
        slabs = slab->next;
        fi_unpoison(slab, size);
        fi_mem_free(slab, size, FI_CACHE_LINE);
    }
}

void fi_record_pool_fini(fi_record_pool *p)
{
    fi_record_slabs_free(p->slabs, p->depot ? p->depot->size : 0);
    *p = (fi_record_pool){.depot = p->depot};
}
