/* Address space for slots, in steps. */
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

#define SPACE_MOST      ((size_t)1 << 30) /* 33 million small tasks open in one fiber */
#define SPACE_LEAST     ((size_t)1 << 18)
#define FIBERS_IN_LIMIT 512
#define STEP            ((size_t)1 << 16)
#define NEST_STEP       ((size_t)1 << 12)
#define KEPT            ((size_t)4 << 20) /* stays warm when all slots are gone: 130,000 small tasks */

/* Where the process has a limit on its address space, each of many fibers gets a share. */
static size_t space_to_ask_for(void)
{
    struct rlimit limit;
    size_t size = SPACE_MOST;

    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return size;
    while (size > SPACE_LEAST && size > limit.rlim_cur / FIBERS_IN_LIMIT)
        size /= 4;
    return size;
}

/* What is known of the stack stands before its slots. */
#define HEAD FI_CACHE_LINE
_Static_assert(sizeof(fi_task_stack) <= HEAD, "room for it");

static fi_task_stack *map(void)
{
    for (size_t size = space_to_ask_for(); size >= SPACE_LEAST; size /= 4) {
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

fi_task_stack *fi_task_stack_new(void)
{
    fi_task_stack *s = map();

    if (!s)
        return NULL;
    s->first = s->split = s->base;
    s->limit = s->base + STEP;
    return s;
}

fi_task_stack *fi_task_stack_in(void *memory, size_t size)
{
    fi_task_stack *s = memory;
    char *end = (char *)memory + size;

    *s = (fi_task_stack){.base = (char *)memory + HEAD, .end = end, .limit = end - FILCH_SLOT_MAX_};
    s->first = s->split = s->base;
    return s;
}

void fi_task_stack_free(void *stack)
{
    fi_task_stack *s = stack;

    munmap(stack, (size_t)(s->end - (char *)stack));
}

void fi_task_stack_trim(fi_task_stack *s)
{
    char *kept = (char *)s + KEPT; /* a page begins there */

    if (s->limit <= kept)
        return;
    madvise(kept, (size_t)(s->limit - kept) + FILCH_SLOT_MAX_, MADV_DONTNEED);
    s->limit = kept;
}

/* By half of what is in use, so that a long loop of spawns comes here seldom. */
void fi_task_stack_grow(fi_task_stack *s, const char *top)
{
    size_t room = (size_t)(s->end - s->limit) - FILCH_SLOT_MAX_;
    size_t step = (size_t)(s->limit - s->base) / 2 / STEP * STEP;

    if (top <= s->limit)
        return;
    step = step < STEP ? STEP : step;
    step = step < room ? step : room;
    if (top > s->limit + step)
        fi_fatal("no room for another open FILCH_SPAWN in this fiber");
    s->limit += step;
}

char *fi_task_stack_nest(fi_task_stack *s)
{
    char *base = s->limit + FILCH_SLOT_MAX_;

    base += 16 - (size_t)(base - s->base) % 16;
    if (s->end - base < (ptrdiff_t)(NEST_STEP + FILCH_SLOT_MAX_))
        fi_fatal("no room for another FILCH_RUN inside a task");
    s->first = s->split = base;
    s->limit = base + NEST_STEP;
    return base;
}

void fi_task_stack_unnest(fi_task_stack *s, const fi_task_stack *former)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *from = former->limit + FILCH_SLOT_MAX_;
    char *to = s->limit + FILCH_SLOT_MAX_;

    from += page - (uintptr_t)from % page;
    if (to > from && (size_t)(to - from) > KEPT)
        madvise(from, (size_t)(to - from), MADV_DONTNEED);
    *s = *former;
}
