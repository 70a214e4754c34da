/* Annotations of stacks for AddressSanitizer and valgrind.  Without them they have no effect. */
#ifndef FI_STACK_ANNOTATE_H
#define FI_STACK_ANNOTATE_H

#include "base/poison.h"

#include <stddef.h>

#ifdef FILCH_HAVE_VALGRIND_H
#include <valgrind/valgrind.h>
#endif

/* [any] The memory is not in use until the stack is allocated again. */
static inline void fi_stack_poison(void *low, size_t size)
{
    fi_poison(low, size);
}

/* [any] The stack is allocated, or its memory returns to the kernel.  Also unpoisons frames of a
 * former user that never returned. */
static inline void fi_stack_unpoison(void *low, size_t size)
{
    fi_unpoison(low, size);
}

/* [any] Make valgrind take a jump of the stack pointer into this range for a switch of stacks, not
 * for a very large frame.  Returns: valgrind's id of the range. */
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
