/* Records that outlive their runtime: a user may join a fiber after filch_stop.  Its handle is one
 * record of a slab, so all slabs of that runtime's handles stay until the last handle is freed. */
#include "base/record_pool.h"

#include "base/at_fork.h"

static fi_lock lock;
static fi_record_slab *orphans; /* the first slab of each ended pool */

__attribute__((constructor)) static void register_at_fork(void)
{
    fi_at_fork(FI_FORK_RECORDS, &lock, NULL);
}

void fi_record_pool_merge(fi_record_pool *to, fi_record_pool *from)
{
    fi_record_slab **end = &from->slabs;

    while (*end)
        end = &(*end)->next;
    *end = to->slabs;
    to->slabs = from->slabs;
    to->n_slabs += from->n_slabs;
    to->n += from->n;
    *from = (fi_record_pool){.depot = from->depot};
}

static size_t count_depot_records(fi_record_depot *d)
{
    size_t n = 0;

    for (fi_record *m = fi_load_relaxed(&d->magazines); m; m = m->next_magazine)
        n += FI_RECORDS_PER_SLAB;
    return n;
}

void fi_record_pool_end(fi_record_pool *p, uint64_t owner)
{
    size_t in_use = p->n_slabs * FI_RECORDS_PER_SLAB - p->n - count_depot_records(p->depot);
    fi_record_slab *slabs = p->slabs;

    if (in_use == 0) {
        fi_record_pool_fini(p);
        return;
    }
    slabs->owner = owner;
    slabs->in_use = in_use;
    fi_lock_lock(&lock);
    slabs->next_orphan = orphans;
    orphans = slabs;
    fi_lock_unlock(&lock);
    *p = (fi_record_pool){.depot = p->depot};
}

/* [lock held] Points to NULL in the child of a fork, which has no slabs of its parent's runtime. */
static fi_record_slab **find_orphans(uint64_t owner)
{
    fi_record_slab **at = &orphans;

    while (*at && (*at)->owner != owner)
        at = &(*at)->next_orphan;
    return at;
}

void fi_record_orphan_free(uint64_t owner, void *record, size_t size)
{
    fi_record_slab **at, *slabs = NULL;

    fi_record_poison(record, size);
    fi_lock_lock(&lock);
    at = find_orphans(owner);
    if (*at && --(*at)->in_use == 0) {
        slabs = *at;
        *at = slabs->next_orphan;
    }
    fi_lock_unlock(&lock);
    fi_record_slabs_free(slabs, size);
}
