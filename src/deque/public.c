/* The deques of <filch/deque.h>: checked arguments, and one error for a lost race. */
#include "base/compiler.h"
#include "base/message.h"
#include "base/sized.h"
#include "deque/deque.h"

#include <filch/deque.h>

_Static_assert(FILCH_DEQUE_CAPACITY_MAX == FI_DEQUE_MAX_CAPACITY, "the same limit");
_Static_assert(FILCH_DEQUE_STEAL_MAX == FI_DEQUE_MAX_BATCH, "the same limit");

enum { DEQUE_KINDS = FILCH_DEQUE_LOCKED + 1 };

static const fi_deque_ops *const deque_kinds[DEQUE_KINDS] = {
    [FILCH_DEQUE_BATCH] = &fi_deque_batch,
    [FILCH_DEQUE_BOUNDED] = &fi_deque_bounded,
    [FILCH_DEQUE_HALF] = &fi_deque_half,
    [FILCH_DEQUE_LOCKED] = &fi_deque_locked,
};

static uint32_t deque_round_capacity(uint32_t wanted)
{
    uint32_t capacity = 1;

    while (capacity < wanted)
        capacity *= 2;
    return capacity;
}

static int deque_check_attr(const filch_deque_attr *attr)
{
    if ((unsigned)attr->kind >= DEQUE_KINDS)
        return fi_message_invalid(
            "filch_deque_new: kind: not a filch_deque_kind (%u); use a constant of that type",
            (unsigned)attr->kind);
    if (attr->capacity > FILCH_DEQUE_CAPACITY_MAX)
        return fi_message_invalid("filch_deque_new: capacity: too large (%u); use up to %u",
                                  attr->capacity, FILCH_DEQUE_CAPACITY_MAX);
    if (attr->steal_max > FILCH_DEQUE_STEAL_MAX)
        return fi_message_invalid("filch_deque_new: steal_max: too large (%u); use up to %u",
                                  attr->steal_max, (unsigned)FILCH_DEQUE_STEAL_MAX);
    if (attr->kind == FILCH_DEQUE_BOUNDED && attr->steal_max > 1)
        return fi_message_invalid(
            "filch_deque_new: steal_max: a bounded deque supports only 1 (%u); use 0 or 1",
            attr->steal_max);
    return 0;
}

filch_deque *filch_deque_new_(const filch_deque_attr *given, size_t size)
{
    filch_deque_attr attr;
    fi_deque *d = NULL;

    if (fi_sized_read("filch_deque_new", &attr, sizeof attr, given, size) < 0 ||
        deque_check_attr(&attr) < 0)
        return NULL;
    fi_deque_config config = {
        .capacity = attr.capacity ? deque_round_capacity(attr.capacity) : 0,
        .batch = attr.steal_max,
    };
    fi_deque_new(deque_kinds[attr.kind], &config, &d);
    return d;
}

void filch_deque_free(filch_deque *d)
{
    fi_deque_free(d);
}

static FI_NOINLINE int deque_is_null(const char *function)
{
    return fi_message_null(function, "d", "a deque of filch_deque_new");
}

/* [owner] */
int filch_deque_push(filch_deque *d, void *item)
{
    if (FI_UNLIKELY(!d))
        return deque_is_null("filch_deque_push");
    if (FI_UNLIKELY(!item))
        return fi_message_null("filch_deque_push", "item", "another pointer");
    return fi_deque_push(d, item);
}

/* [owner] */
void *filch_deque_pop(filch_deque *d)
{
    if (FI_LIKELY(d))
        return fi_deque_pop(d);
    deque_is_null("filch_deque_pop");
    return NULL;
}

/* [thief] */
int filch_deque_steal(filch_deque *d, void **items, size_t max)
{
    if (FI_UNLIKELY(!d))
        return deque_is_null("filch_deque_steal");
    if (FI_UNLIKELY(!items))
        return fi_message_null("filch_deque_steal", "items", "an array");
    if (FI_UNLIKELY(max == 0))
        return fi_message_invalid("filch_deque_steal: max is 0; pass the length of items");
    int n = fi_deque_steal(d, items, max < UINT32_MAX ? (uint32_t)max : UINT32_MAX);
    return n == FI_STEAL_LOST_SEVERAL ? FI_STEAL_LOST : n;
}

/* [any] */
size_t filch_deque_size(filch_deque *d)
{
    if (FI_LIKELY(d))
        return fi_deque_size(d);
    deque_is_null("filch_deque_size");
    return 0;
}
