/* What AddressSanitizer and valgrind are told about the life of a stack.  All of it is nothing in a
 * build or a run without them. */
#ifndef FI_STACK_ANNOTATE_H
#define FI_STACK_ANNOTATE_H

#include "base/poison.h"

#include <stddef.h>

#ifdef FILCH_HAVE_VALGRIND_H
#include <valgrind/valgrind.h>
#endif

/* [any] Nobody may use this memory until it is lent out again. */
static inline void fi_stack_poison(void *low, size_t size)
{
    fi_poison(low, size);
}

/* [any] This memory is lent out, or about to go back to the kernel.  Frames that a former user
 * never returned from are forgotten too. */
static inline void fi_stack_unpoison(void *low, size_t size)
{
    fi_unpoison(low, size);
}

/* [any] Valgrind takes a jump of the stack pointer into this range for a change of stacks, not for
 * a very large frame.  Its name for the range. */
static inline unsigned fi_stack_register(void *low, size_t size)
{
#ifdef VALGRIND_STACK_REGISTER
    return (unsigned)VALGRIND_STACK_REGISTER(low, (char *)low + size - 1);
#else
    (void)low, (void)size;
    return 0;
#endif
}

static inline void fi_stack_deregister(unsigned id)
{
#ifdef VALGRIND_STACK_DEREGISTER
    VALGRIND_STACK_DEREGISTER(id);
#endif
    (void)id;
}

#endif
