/* A slab: one mapping, many stacks.  Of no interest outside this room, but to debuggers (sched/layout.c). */
#ifndef FI_STACK_SLAB_H
#define FI_STACK_SLAB_H

#include "base/fatal.h"
#include "stack/stack.h"

struct fi_stack_slab {
    fi_stack_pool *pool;
    fi_stack_slab *prev, *next; /* in the pool's list, while it has a stack to lend */
    fi_stack_slab *next_of_all; /* where there is a reserve */
    char *base;
    size_t bytes;
    fi_stack *stacks;
    fi_stack *free; /* came back */
    unsigned count;
    unsigned fresh; /* stacks[fresh] and those after it were never lent */
    unsigned lent;
};

/* [pool lock] Map a slab of up to count stacks, fewer where there is no room for so many; NULL when
 * there is no memory. */
fi_stack_slab *fi_stack_slab_new(fi_stack_pool *p, unsigned count);

/* [any, slab belongs to nobody] Unmap.  -errno when the kernel refuses: then all is as before. */
int fi_stack_slab_free(const fi_stack_pool *p, fi_stack_slab *slab);

/* [any, slab belongs to nobody] Free the records and leave the mapping to its fate. */
void fi_stack_slab_abandon(fi_stack_slab *slab);

/* [any] Another pool would lend the stack out again, with a size that its own does not have. */
static inline void fi_stack_slab_check(const fi_stack_pool *p, const fi_stack *s)
{
    if (s->slab->pool != p)
        fi_fatal("a stack was given back to another pool than the one it is from");
}

/* Bytes of records for a slab of count stacks. */
size_t fi_stack_slab_bookkeeping(unsigned count);

#endif
