/* Compile a test of the deques for <filch/deque.h>.  The calls of the test go to the public
 * functions.  What these do not offer (counts, top, capacity) is still read from the inside. */
#ifndef TESTS_DEQUE_PUBLIC_H
#define TESTS_DEQUE_PUBLIC_H

#include <filch/deque.h>

static inline filch_deque_kind public_kind(const fi_deque_ops *kind)
{
    return kind == &fi_deque_locked    ? FILCH_DEQUE_LOCKED
           : kind == &fi_deque_bounded ? FILCH_DEQUE_BOUNDED
           : kind == &fi_deque_half    ? FILCH_DEQUE_HALF
                                       : FILCH_DEQUE_BATCH;
}

static inline int public_new(const fi_deque_ops *kind, const fi_deque_config *c, fi_deque **out)
{
    filch_deque_attr attr = {
        .kind = public_kind(kind), .capacity = c->capacity, .steal_max = c->batch};

    *out = filch_deque_new(&attr);
    return *out ? 0 : -ENOMEM;
}

#define fi_deque_new   public_new
#define fi_deque_free  filch_deque_free
#define fi_deque_push  filch_deque_push
#define fi_deque_pop   filch_deque_pop
#define fi_deque_steal filch_deque_steal
#define fi_deque_size  filch_deque_size

#endif
