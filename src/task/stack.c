#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* MAP_NORESERVE, MADV_NOHUGEPAGE */
#endif
#include "task/stack.h"

#include "base/compiler.h"
#include "base/fatal.h"

#include <stdint.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#define SPACE_MAX       ((size_t)1 << 30) /* 33 million small tasks */
#define SPACE_MIN       ((size_t)1 << 18)
#define FIBERS_IN_LIMIT 512
#define STEP            ((size_t)1 << 16)
#define NEST_STEP       ((size_t)1 << 12)
#define KEPT            ((size_t)4 << 20) /* not trimmed: 130,000 small tasks */

/* If the address space of the process is limited, many fibers divide it. */
static size_t space_to_reserve(void)
{
    struct rlimit limit;
    size_t size = SPACE_MAX;

    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return size;
    while (size > SPACE_MIN && size > limit.rlim_cur / FIBERS_IN_LIMIT)
        size /= 4;
    return size;
}

/* The fi_task_stack is in front of its slots. */
#define HEAD FI_CACHE_LINE
_Static_assert(sizeof(fi_task_stack) <= HEAD, "it fits");

static fi_task_stack *map_stack(void)
{
    for (size_t size = space_to_reserve(); size >= SPACE_MIN; size /= 4) {
        void *at = mmap(NULL, size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (at == MAP_FAILED)
            continue;
        madvise(at, size, MADV_NOHUGEPAGE); /* most stacks need a page or two */
        *(fi_task_stack *)at = (fi_task_stack){.base = (char *)at + HEAD, .end = (char *)at + size};
        return at;
    }
    return NULL;
}

/* The smallest step of the limit.  A small stack rises in small steps, so that nested runs, which
 * start after the limit, have space. */
static size_t step_min(const fi_task_stack *s)
{
    size_t part = (size_t)(s->end - s->base) / 16 / 16 * 16;

    return part < STEP ? part : STEP;
}

static void stack_begin(fi_task_stack *s)
{
    s->run_base = s->split = s->base;
    s->limit = s->base + step_min(s);
}

fi_task_stack *fi_task_stack_new(void)
{
    fi_task_stack *s = map_stack();

    if (!s)
        return NULL;
    stack_begin(s);
    return s;
}

fi_task_stack *fi_task_stack_in(void *memory, size_t size)
{
    fi_task_stack *s = memory;

    *s = (fi_task_stack){.base = (char *)memory + HEAD, .end = (char *)memory + size};
    stack_begin(s);
    return s;
}

void fi_task_stack_free(void *stack)
{
    fi_task_stack *s = stack;

    munmap(stack, (size_t)(s->end - (char *)stack));
}

void fi_task_stack_trim(fi_task_stack *s)
{
    char *kept = (char *)s + KEPT; /* page-aligned */

    if (s->limit <= kept)
        return;
    madvise(kept, (size_t)(s->limit - kept) + FILCH_SLOT_MAX_, MADV_DONTNEED);
    s->limit = kept;
}

/* By half of the used size, so that a long loop of spawns comes here seldom. */
void fi_task_stack_grow(fi_task_stack *s, const char *top)
{
    size_t left = (size_t)(s->end - s->limit) - FILCH_SLOT_MAX_;
    size_t min = step_min(s);
    size_t step = (size_t)(s->limit - s->base) / 2 / min * min;

    if (top <= s->limit)
        return;
    step = step < min ? min : step;
    step = step < left ? step : left;
    if (top > s->limit + step)
        fi_fatal("FILCH_SPAWN: the task stack of the fiber is full (%zu bytes); sync earlier",
                 (size_t)(s->end - s->base));
    s->limit += step;
}

char *fi_task_stack_push_nested(fi_task_stack *s)
{
    char *base = s->limit + FILCH_SLOT_MAX_;

    base += 16 - (size_t)(base - s->base) % 16;
    if (s->end - base < (ptrdiff_t)(NEST_STEP + FILCH_SLOT_MAX_))
        return NULL;
    s->run_base = s->split = base;
    s->limit = base + NEST_STEP;
    return base;
}

void fi_task_stack_pop_nested(fi_task_stack *s, const fi_task_stack *former)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *from = former->limit + FILCH_SLOT_MAX_;
    char *to = s->limit + FILCH_SLOT_MAX_;

    from += page - (uintptr_t)from % page;
    if (to > from && (size_t)(to - from) > KEPT)
        madvise(from, (size_t)(to - from), MADV_DONTNEED);
    *s = *former;
}
