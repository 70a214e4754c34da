/* Map and unmap a slab of stacks, for pool.c. */
#include "stack/slab.h"
#include "base/mem.h"
#include "stack/annotate.h"

#include <sys/mman.h>

size_t fi_stack_slab_bookkeeping(unsigned count)
{
    return sizeof(fi_stack_slab) + count * sizeof(fi_stack);
}

/* If address space is short, or the kernel does not overcommit, a smaller slab may still fit. */
static int slab_map(const fi_stack_pool *p, fi_stack_slab *slab)
{
    for (;;) {
        void *at;
        int e = p->vm.map(p->vm.ctx, slab->count * p->stride, &at);

        if (e == 0) {
            slab->base = at;
            slab->bytes = slab->count * p->stride;
            return 0;
        }
        if (slab->count == 1)
            return e;
        slab->count /= 2;
    }
}

fi_stack_slab *fi_stack_slab_new(fi_stack_pool *p, unsigned count)
{
    fi_stack_slab *slab = FI_NEW(fi_stack_slab);

    if (!slab)
        return NULL;
    slab->pool = p;
    slab->count = count;
    if (slab_map(p, slab) < 0)
        goto no_memory;
    slab->stacks = FI_NEW_ARRAY(fi_stack, slab->count);
    if (!slab->stacks)
        goto no_records;
    /* Otherwise the first touch of a stack may commit 2 MiB.  Kernels without huge pages refuse. */
    p->vm.advise(p->vm.ctx, slab->base, slab->bytes, MADV_NOHUGEPAGE);
    return slab;

no_records:
    p->vm.unmap(p->vm.ctx, slab->base, slab->bytes);
no_memory:
    FI_DELETE(fi_stack_slab, slab);
    return NULL;
}

/* ASan's shadow belongs to addresses, which may be mapped again. */
static void slab_unannotate(const fi_stack_slab *slab)
{
    for (unsigned i = 0; i < slab->fresh; i++) {
        fi_stack_deregister(slab->stacks[i].valgrind_id);
        fi_stack_unpoison(slab->stacks[i].low, slab->stacks[i].size);
    }
}

void fi_stack_slab_abandon(fi_stack_slab *slab)
{
    slab_unannotate(slab);
    FI_DELETE_ARRAY(fi_stack, slab->stacks, slab->count);
    FI_DELETE(fi_stack_slab, slab);
}

int fi_stack_slab_free(const fi_stack_pool *p, fi_stack_slab *slab)
{
    int e = p->vm.unmap(p->vm.ctx, slab->base, slab->bytes);

    if (e == 0)
        fi_stack_slab_abandon(slab);
    return e;
}
