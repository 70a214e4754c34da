/* Every kind of deque, in each shape with a corner case. */
#ifndef TESTS_DEQUE_SETTINGS_H
#define TESTS_DEQUE_SETTINGS_H

#include "deque/deque.h"
#ifdef DEQUE_PUBLIC
#include "unit/deque/public.h"
#endif

typedef struct setting {
    const fi_deque_ops *kind;
    uint32_t capacity, batch;
} setting;

static const setting settings[] = {
    {&fi_deque_locked, 1, 0},  {&fi_deque_locked, 256, 8},  {&fi_deque_bounded, 1, 0},
    {&fi_deque_bounded, 2, 0}, {&fi_deque_bounded, 256, 1}, {&fi_deque_batch, 1, 1},
    {&fi_deque_batch, 1, 4},   {&fi_deque_batch, 64, 16},   {&fi_deque_batch, 256, 64},
    {&fi_deque_half, 1, 0},    {&fi_deque_half, 8, 2},      {&fi_deque_half, 256, 0},
};
enum { SETTINGS = sizeof settings / sizeof settings[0] };

/* Where indices start: at both ends of 32 and 64 bits.  The public deque starts at 0. */
#ifdef DEQUE_PUBLIC
static const uint64_t starts[] = {0};
#else
static const uint64_t starts[] = {0, 1, UINT32_MAX - UINT64_C(2), UINT64_MAX - UINT64_C(2)};
#endif
enum { STARTS = sizeof starts / sizeof starts[0] };

static inline fi_deque *deque_of(const setting *s, uint64_t first_index)
{
    fi_deque_config c = {.capacity = s->capacity, .batch = s->batch, .first_index = first_index};
    fi_deque *d = NULL;
    CHECK_INT(fi_deque_new(s->kind, &c, &d), 0);
    return d;
}

#endif
