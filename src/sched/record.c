/* Free lists over slabs, and bundles that go from one worker to another. */
#include "sched/record.h"

#include "base/mem.h"

#define TOO_MANY ((size_t)4 * FI_RECORDS_PER_SLAB)

void fi_record_pool_init(fi_record_pool *p, fi_record_share *share)
{
    *p = (fi_record_pool){.share = share};
}

static void push(fi_record_pool *p, fi_record *r)
{
    r->next = p->free;
    p->free = r;
    p->n++;
}

static fi_record *pop(fi_record_pool *p)
{
    fi_record *r = p->free;

    p->free = r->next;
    p->n--;
    return r;
}

static void hand_on(fi_record_pool *p)
{
    fi_record *bundle = NULL;

    for (int i = 0; i < FI_RECORDS_PER_SLAB; i++) {
        fi_record *r = pop(p);
        r->next = bundle;
        bundle = r;
    }
    fi_lock_lock(&p->share->lock);
    bundle->next_bundle = p->share->bundles;
    p->share->bundles = bundle;
    fi_lock_unlock(&p->share->lock);
}

static bool take_bundle(fi_record_pool *p)
{
    fi_record *bundle;

    fi_lock_lock(&p->share->lock);
    bundle = p->share->bundles;
    if (bundle)
        p->share->bundles = bundle->next_bundle;
    fi_lock_unlock(&p->share->lock);
    if (!bundle)
        return false;
    p->free = bundle;
    p->n = FI_RECORDS_PER_SLAB;
    return true;
}

static bool grow(fi_record_pool *p)
{
    fi_record_slab *slab = FI_NEW(fi_record_slab);

    if (!slab)
        return false;
    slab->next = p->slabs;
    p->slabs = slab;
    for (int i = FI_RECORDS_PER_SLAB - 1; i >= 0; i--)
        push(p, &slab->records[i]);
    return true;
}

void *fi_record_get(fi_record_pool *p)
{
    if (!p->free && !take_bundle(p) && !grow(p))
        return NULL;
    return pop(p);
}

void fi_record_put(fi_record_pool *p, void *record)
{
    push(p, record);
    if (p->n > TOO_MANY)
        hand_on(p);
}

void fi_record_pool_fini(fi_record_pool *p)
{
    while (p->slabs) {
        fi_record_slab *slab = p->slabs;
        p->slabs = slab->next;
        FI_DELETE(fi_record_slab, slab);
    }
    p->free = NULL;
}
