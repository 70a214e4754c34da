/* The task stack of a fiber: the slots of its open spawns, the oldest first.
 *
 *     base | public slots | split  private slots  top |     | limit  space for one slot |     | end
 *
 * Slots before `split` are public: each has a ticket.  Slots from `split` on are private.  The
 * inline code moves `top`, and needs no call while it spawns below the limit and syncs above the
 * split.  A spawn writes its slot before it compares, so there is space for one slot of the largest
 * size after the limit.
 *
 * Slots must not move, because their addresses are in registers.  They must be contiguous, because
 * the inline code adds and subtracts their size.  So a stack reserves a large address range, and
 * only touched pages cost memory.  The limit rises in steps and shows how much was used. */
#ifndef FI_TASK_STACK_H
#define FI_TASK_STACK_H

#include <filch/task.h>

#include <stddef.h>

typedef struct fi_task_stack {
    char *base, *end; /* the address space */
    char *limit;      /* a slot that ends after it raises the limit */
    char *run_base;   /* start of the current run: base, or higher if it is nested */
    char *split;      /* the first private slot */
} fi_task_stack;

/* [owner] NULL: no memory. */
fi_task_stack *fi_task_stack_new(void);
/* [owner] */
void fi_task_stack_free(void *stack);

/* [owner] A stack in the caller's memory, which is aligned to a cache line and has at least
 * 32 KiB. */
fi_task_stack *fi_task_stack_in(void *memory, size_t size);

/* [owner, no slot is open] Return most of the memory to the kernel. */
void fi_task_stack_trim(fi_task_stack *s);

/* [owner] Raise the limit to at least top.  Aborts if the address range is full. */
void fi_task_stack_grow(fi_task_stack *s, const char *top);

/* [owner] Start an empty nested stack after the limit, because the top of the current one is
 * unknown.
 * Returns its base.  NULL: there is no space.  pop_nested restores `former`, a copy from before. */
char *fi_task_stack_push_nested(fi_task_stack *s);
void fi_task_stack_pop_nested(fi_task_stack *s, const fi_task_stack *former);

/* [owner] The oldest private slot before top.  NULL: there is none. */
static inline filch_slot_ *fi_task_stack_oldest_private(fi_task_stack *s, const char *top)
{
    return s->split < top ? (filch_slot_ *)(void *)s->split : NULL;
}

/* [owner] The oldest private slot is public now. */
static inline void fi_task_stack_advance_split(fi_task_stack *s, const filch_slot_ *slot)
{
    s->split += slot->type->size;
}

#endif
