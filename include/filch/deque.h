/* Work-stealing deques, for programs that have a scheduler of their own.
 *
 *     #include <filch/deque.h>
 *     #include <stdio.h>
 *
 *     int main(void)
 *     {
 *         int numbers[3] = {1, 2, 3};
 *         void *stolen[1] = {NULL};
 *         filch_deque *d = filch_deque_new(NULL);
 *         if (!d)
 *             return 1;
 *         for (int i = 0; i < 3; i++)
 *             filch_deque_push(d, &numbers[i]);
 *         if (filch_deque_steal(d, stolen, 1) == 1)
 *             printf("a thief takes %d, ", *(int *)stolen[0]);
 *         printf("the owner takes %d\n", *(int *)filch_deque_pop(d));
 *         filch_deque_free(d);
 *         return 0;
 *     }
 *
 * The deques are those of Filch's own workers.  They need no runtime, and start no thread.
 *
 * A deque has an owner: one thread at a time pushes and pops.  Any other threads steal, at the same
 * time.  Items are pointers, but not NULL.  The deque does not use what they point to.  Each
 * item that was pushed is popped or stolen exactly once.  What the pusher wrote before the push is
 * visible to the thread that gets the item.
 *
 *     kind      the owner pops    capacity    one steal takes, oldest first
 *     batch     the newest        grows       up to steal_max, at most half, rounded up
 *     bounded   the newest        fixed       1
 *     half      the oldest        fixed       half, rounded up, or up to steal_max
 *     locked    the newest        fixed       up to steal_max, at most half, rounded up
 *
 * A steal takes the oldest items in each kind.  So half is a FIFO queue, and the other kinds are
 * LIFO for their owner and FIFO for thieves.  All kinds but locked are lock-free.
 */
#ifndef FILCH_DEQUE_H
#define FILCH_DEQUE_H

#include <filch/version.h>

#include <stddef.h>

FILCH_BEGIN_DECLS

typedef struct filch_deque filch_deque;

typedef enum filch_deque_kind {
    FILCH_DEQUE_BATCH,   /* after Chase, Lev (2005) and Kuchumov (2016); the default */
    FILCH_DEQUE_BOUNDED, /* after Chase, Lev (2005) and Le et al. (2013) */
    FILCH_DEQUE_HALF,    /* the local run queue of Go's scheduler */
    FILCH_DEQUE_LOCKED,  /* behind a lock: a baseline for measurements */
} filch_deque_kind;

#define FILCH_DEQUE_CAPACITY_MAX (1u << 30)
#define FILCH_DEQUE_STEAL_MAX    64

/* Attributes of a deque.  Zero means the default. */
typedef struct filch_deque_attr {
    filch_deque_kind kind FILCH_ZERO_;
    /* The number of items that fit, or fit at first if the deque grows: 1 to
     * FILCH_DEQUE_CAPACITY_MAX, rounded up to a power of two; 0: 256 */
    unsigned capacity FILCH_ZERO_;
    /* The maximum number of items that one steal takes, 1 to FILCH_DEQUE_STEAL_MAX, and 1 for
     * bounded; 0: 8 for batch, 1 for bounded and locked, half of the items for half.  A pop of a
     * batch deque with this number of items or fewer costs more */
    unsigned steal_max FILCH_ZERO_;
} filch_deque_attr;

/* The inline function passes the size of the struct that the program was compiled with. */
FILCH_API filch_deque *filch_deque_new_(const filch_deque_attr *attr, size_t size);

/* Create an empty deque.  Its memory comes from the allocator of filch_set_allocator.
 * attr: NULL means attributes of zeros.
 * Call from: any thread or fiber.  Blocks: nothing.
 * Returns: the deque; NULL: there is no memory, or an attribute is wrong.  In the latter case a
 *     message names it. */
static inline filch_deque *filch_deque_new(const filch_deque_attr *attr)
{
    return filch_deque_new_(attr, sizeof *attr);
}

/* Free the deque.  The caller keeps the items that are left in it.  NULL is allowed.
 * Call from: any thread or fiber, while no other call for the deque runs.  Blocks: nothing. */
FILCH_API void filch_deque_free(filch_deque *d);

/* Push an item as the newest.
 * Call from: the owner.  Blocks: nothing; for locked, the thread while another thread is inside.
 * Returns: 0.
 *     -ENOSPC: the deque is full.
 *     -ENOMEM: there is no memory to let the deque grow.
 *     -EINVAL: d or item is NULL. */
FILCH_API int filch_deque_push(filch_deque *d, void *item);

/* Take the newest item, or for half the oldest.
 * Call from: the owner.  Blocks: nothing; for locked, the thread while another thread is inside.
 * Returns: the item; NULL: the deque is empty, or d is NULL. */
FILCH_API void *filch_deque_pop(filch_deque *d);

/* Take up to max of the oldest items and store them in items, the oldest first.  The other elements
 * of items may be overwritten.
 * Call from: any thread or fiber, the owner too.  Blocks: nothing; for locked, the thread while
 *     another thread is inside.
 * Returns: the number of items; 0: the deque is empty.
 *     -EAGAIN: another thread was faster.  The deque may have more items.
 *     -EINVAL: d or items is NULL, or max is 0. */
FILCH_API int filch_deque_steal(filch_deque *d, void **items, size_t max);

/* Get the number of items.
 * Call from: any thread or fiber.  Blocks: nothing; for locked, the thread while another thread is
 *     inside.
 * Returns: the number, which is out of date if another call runs at the same time; 0: d is NULL. */
FILCH_API size_t filch_deque_size(filch_deque *d);

FILCH_END_DECLS

#endif
