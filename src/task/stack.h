/* The task stack of a fiber: the slots of its open spawns, the oldest first.
 *
 *     base | public slots | split ... private slots ... top |     | limit   room for one slot |   ... | end
 *
 * Slots before `split` are public (each has a ticket), those after it are private.  Compiled code moves
 * `top` alone, and asks for nothing as long as it spawns below the limit and syncs above the split.  A
 * spawn writes its slot first and compares then, so beyond the limit there is room for one more of the
 * largest size.
 *
 * Slots must not move, as their addresses are in registers, and must lie side by side, as compiled code
 * adds and subtracts.  So a stack is a large piece of address space of which only what was touched costs
 * memory; the limit goes up in steps, and tells how much was used.
 */
#ifndef FI_TASK_STACK_H
#define FI_TASK_STACK_H

#include <filch/task.h>

#include <stddef.h>

typedef struct fi_task_stack {
    char *base, *end; /* the address space */
    char *limit;      /* a slot that ends beyond it asks for more */
    char *first;      /* where the present run began: base, or within it */
    char *split;      /* the first private slot */
} fi_task_stack;

/* [owner] NULL when there is no memory. */
fi_task_stack *fi_task_stack_new(void);
/* [owner] */
void fi_task_stack_free(void *stack);

/* [owner] A stack in this memory, which is aligned to a cache line. */
fi_task_stack *fi_task_stack_in(void *memory, size_t size);

/* [owner] No slot is open: all but a little of the memory goes back. */
void fi_task_stack_trim(fi_task_stack *s);

/* [owner] Raise the limit to top at least.  No room ends the program with a line. */
void fi_task_stack_grow(fi_task_stack *s, const char *top);

/* [owner] Begin an empty stack on top of this one, where nobody knows its top: beyond the limit there is
 * no slot.  Returns its base.  Then go back to what it was. */
char *fi_task_stack_nest(fi_task_stack *s);
void fi_task_stack_unnest(fi_task_stack *s, const fi_task_stack *former);

/* [owner] The oldest private slot before top, or NULL; and: it is public now. */
static inline filch_slot_ *fi_task_stack_oldest(fi_task_stack *s, const char *top)
{
    return s->split < top ? (filch_slot_ *)(void *)s->split : NULL;
}

static inline void fi_task_stack_skip(fi_task_stack *s, const filch_slot_ *slot)
{
    s->split += slot->type->size;
}

#endif
