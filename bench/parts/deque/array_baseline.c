/* The baseline as a deque implementation. */
#include "array_baseline.h"

#include "base/mem.h"

typedef struct array_stack {
    fi_deque base;
    void **slots;
    size_t capacity, top, bottom;
} array_stack;

static int create(const fi_deque_config *config, fi_deque **out)
{
    array_stack *d = FI_NEW(array_stack);
    if (!d)
        return -ENOMEM;
    d->slots = FI_NEW_ARRAY(void *, config->capacity);
    if (!d->slots) {
        FI_DELETE(array_stack, d);
        return -ENOMEM;
    }
    d->base.ops = &array_baseline;
    d->capacity = config->capacity;
    *out = &d->base;
    return 0;
}

static void destroy(fi_deque *base)
{
    array_stack *d = (array_stack *)base;
    FI_DELETE_ARRAY(void *, d->slots, d->capacity);
    FI_DELETE(array_stack, d);
}

static int push(fi_deque *base, void *item)
{
    array_stack *d = (array_stack *)base;
    if (d->bottom - d->top == d->capacity)
        return -ENOSPC;
    d->slots[d->bottom++ & (d->capacity - 1)] = item;
    return 0;
}

static void *pop(fi_deque *base)
{
    array_stack *d = (array_stack *)base;
    return d->bottom == d->top ? NULL : d->slots[--d->bottom & (d->capacity - 1)];
}

static int steal(fi_deque *base, void **out, uint32_t max)
{
    array_stack *d = (array_stack *)base;
    if (max == 0 || d->bottom == d->top)
        return FI_STEAL_EMPTY;
    out[0] = d->slots[d->top++ & (d->capacity - 1)];
    return 1;
}

static size_t size(fi_deque *base)
{
    array_stack *d = (array_stack *)base;
    return d->bottom - d->top;
}

static size_t capacity(fi_deque *base)
{
    return ((array_stack *)base)->capacity;
}

const fi_deque_ops array_baseline = {
    .name = "plain",
    .create = create,
    .destroy = destroy,
    .push = push,
    .pop = pop,
    .steal = steal,
    .size = size,
    .capacity = capacity,
};
