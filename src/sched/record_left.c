/* Records that outlive their runtime: a user may join a fiber after filch_stop.  Its handle is one
 * record of a slab, so all slabs of that runtime's handles stay until the last handle is freed. */
#include "base/record_pool.h"

#include "base/at_fork.h"

static fi_lock lock;
static fi_record_slab *left; /* the first slab of each owner */

__attribute__((constructor)) static void register_at_fork(void)
{
    fi_at_fork(FI_FORK_RECORDS, &lock, NULL);
}

void fi_record_pool_merge(fi_record_pool *to, fi_record_pool *from)
{
    fi_record_slab **end = &to->slabs;

    while (*end)
        end = &(*end)->next;
    *end = from->slabs;
    to->slabs_n += from->slabs_n;
    to->n += from->n;
    *from = (fi_record_pool){.share = from->share};
}

static size_t records_in_bundles(fi_record_depot *s)
{
    size_t n = 0;

    for (fi_record *b = fi_load_relaxed(&s->bundles); b; b = b->next_magazine)
        n += FI_RECORDS_PER_SLAB;
    return n;
}

void fi_record_pool_end(fi_record_pool *p, uint64_t owner)
{
    size_t in_use = p->slabs_n * FI_RECORDS_PER_SLAB - p->n - records_in_bundles(p->share);
    fi_record_slab *slabs = p->slabs;

    if (in_use == 0) {
        fi_record_pool_fini(p);
        return;
    }
    slabs->owner = owner;
    slabs->in_use = in_use;
    fi_lock_lock(&lock);
    slabs->next_left = left;
    left = slabs;
    fi_lock_unlock(&lock);
    *p = (fi_record_pool){.share = p->share};
}

/* [lock held] NULL: there are none, in the child of a fork(). */
static fi_record_slab **find_left(uint64_t owner)
{
    fi_record_slab **at = &left;

    while (*at && (*at)->owner != owner)
        at = &(*at)->next_left;
    return at;
}

void fi_record_left_put(uint64_t owner, void *record, size_t size)
{
    fi_record_slab **at, *slabs = NULL;

    fi_record_poison(record, size);
    fi_lock_lock(&lock);
    at = find_left(owner);
    if (*at && --(*at)->in_use == 0) {
        slabs = *at;
        *at = slabs->next_left;
    }
    fi_lock_unlock(&lock);
    fi_record_slabs_free(slabs, size);
}
