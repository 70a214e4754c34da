/* A slab: one mapping with many stacks.  Used only in src/stack and by debuggers
 * (debug/layout.c). */
#ifndef FI_STACK_SLAB_H
#define FI_STACK_SLAB_H

#include "base/fatal.h"
#include "stack/stack.h"

struct fi_stack_slab {
    fi_stack_pool *pool;
    fi_stack_slab *prev, *next; /* in the pool's list, while it has a free stack */
    fi_stack_slab *next_of_all; /* with a reserve */
    char *base;
    size_t bytes;
    fi_stack *stacks;
    fi_stack *dirty; /* returned stacks with memory */
    fi_stack *clean; /* returned stacks without memory */
    unsigned count;
    unsigned fresh;       /* stacks[fresh] and later ones were never allocated */
    unsigned n_allocated; /* stacks that caches and users have */
};

/* [pool lock] Map a slab of up to count stacks, or fewer if address space is short.
 * Returns: NULL without memory. */
fi_stack_slab *fi_stack_slab_new(fi_stack_pool *p, unsigned count);

/* [any, no other user of the slab] Unmap it.  Returns: 0; -errno: the kernel refuses, and nothing
 * has changed. */
int fi_stack_slab_free(const fi_stack_pool *p, fi_stack_slab *slab);

/* [any, no other user of the slab] Free the records and leak the mapping. */
void fi_stack_slab_abandon(fi_stack_slab *slab);

/* [any] Another pool would allocate the stack with a wrong size. */
static inline void fi_stack_slab_check(const fi_stack_pool *p, const fi_stack *s)
{
    if (s->slab->pool != p)
        fi_fatal("fi_stack_free: the stack belongs to another pool");
}

/* Bytes of records for a slab of count stacks. */
size_t fi_stack_slab_bookkeeping(unsigned count);

#endif
