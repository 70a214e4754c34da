/* Free lists over slabs, and bundles that go from one worker to another. */
#include "base/record_pool.h"

#include "base/mem.h"

/* ---- bundles ---- */

void fi_record_depot_init(fi_record_depot *s, size_t size)
{
    s->size = size;
    fi_atomic_init(&s->bundles, (fi_record *)NULL);
    fi_lock_init(&s->takers);
}

/* Whoever gives back goes on at once, whatever others do. */
void fi_record_depot_push(fi_record_depot *s, fi_record *bundle)
{
    fi_record *first = fi_load_relaxed(&s->bundles);

    do
        bundle->next_magazine = first;
    /* -> record_pool.pop: the list in the bundle before the word */
    while (!fi_cas_release(&s->bundles, &first, bundle, record_pool.push));
}

/* One at a time takes, so that a bundle which stands first twice is first for the same reason: nobody else
 * can have taken it away and put it back meanwhile, with another behind it. */
fi_record *fi_record_depot_pop(fi_record_depot *s)
{
    fi_record *first;

    if (!fi_load_relaxed(&s->bundles))
        return NULL;
    fi_lock_lock(&s->takers);
    do
        /* <- record_pool.push */
        first = fi_load_acquire(&s->bundles, record_pool.pop);
    while (first && !fi_cas_relaxed(&s->bundles, &first, first->next_magazine));
    fi_lock_unlock(&s->takers);
    return first;
}

/* ---- pools ---- */

void fi_record_pool_init(fi_record_pool *p, fi_record_depot *share)
{
    *p = (fi_record_pool){.share = share};
}

void fi_record_pool_flush(fi_record_pool *p)
{
    fi_record *bundle = NULL;

    for (int i = 0; i < FI_RECORDS_PER_SLAB; i++) {
        fi_record *r = fi_record_pop(p);
        r->next = bundle;
        bundle = r;
    }
    fi_record_depot_push(p->share, bundle);
}

static bool take_bundle(fi_record_pool *p)
{
    fi_record *bundle = fi_record_depot_pop(p->share);

    if (!bundle)
        return false;
    p->free = bundle;
    p->n = FI_RECORDS_PER_SLAB;
    return true;
}

static bool grow(fi_record_pool *p)
{
    fi_record_slab *slab = fi_mem_alloc(fi_record_slab_size(p->share->size), FI_CACHE_LINE);

    if (!slab)
        return false;
    slab->next = p->slabs;
    p->slabs = slab;
    p->slabs_n++;
    for (size_t i = FI_RECORDS_PER_SLAB; i-- > 0;)
        fi_record_free(p, (char *)(slab + 1) + i * p->share->size);
    return true;
}

bool fi_record_pool_refill(fi_record_pool *p)
{
    return take_bundle(p) || grow(p);
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
    fi_record_slabs_free(p->slabs, p->share ? p->share->size : 0);
    *p = (fi_record_pool){.share = p->share};
}
