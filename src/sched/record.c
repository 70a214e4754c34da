/* Free lists over slabs. */
#include "sched/record.h"

#include "base/mem.h"

static int grow(fi_record_pool *p)
{
    fi_record_slab *slab = FI_NEW(fi_record_slab);

    if (!slab)
        return -1;
    slab->next = p->slabs;
    p->slabs = slab;
    for (int i = FI_RECORDS_PER_SLAB - 1; i >= 0; i--)
        fi_record_put(p, &slab->records[i]);
    return 0;
}

void *fi_record_get(fi_record_pool *p)
{
    fi_record *r;

    if (!p->free && grow(p) < 0)
        return NULL;
    r = p->free;
    p->free = r->next;
    return r;
}

void fi_record_put(fi_record_pool *p, void *record)
{
    fi_record *r = record;

    r->next = p->free;
    p->free = r;
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
