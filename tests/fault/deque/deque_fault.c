/* Every allocation of a deque fails once: the caller gets an error, no memory leaks, no item is
 * lost. */
#include "check.h"

#include "deque/deque.h"
#ifdef DEQUE_PUBLIC
#include "unit/deque/public.h"
#endif
#include "fault/inject.h"

static char x[64];

/* After a failed push the caller still owns the item, and the deque is unchanged. */
static int fill_and_empty(fi_deque *d)
{
    int e = 0, n = 0;
    while (n < 64 && (e = fi_deque_push(d, &x[n])) == 0)
        n++;
    CHECK(e == 0 || e == -ENOMEM || e == -ENOSPC);
    CHECK_INT(fi_deque_size(d), n);
    for (int i = 0; i < n; i++)
        CHECK(fi_deque_pop(d) == &x[d->ops->fifo ? i : n - 1 - i]);
    CHECK(fi_deque_pop(d) == NULL);
    return e == -ENOMEM ? e : 0;
}

static int use_deque(void *arg)
{
    fi_deque_config c = {.capacity = 2};
    fi_deque *d;
    int e = fi_deque_new(arg, &c, &d);
    if (e < 0)
        return e;
    e = fill_and_empty(d);
    fi_deque_free(d);
    return e;
}

static void every_allocation_fails(void **state)
{
    (void)state;
    for (const fi_deque_ops *const *k = fi_deque_kinds; *k; k++)
        CHECK(inject_every(use_deque, (void *)(uintptr_t)*k) >= (*k == &fi_deque_batch ? 13 : 2));
}

CHECK_MAIN(every_allocation_fails)
