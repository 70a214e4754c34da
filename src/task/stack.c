/* Address space for slots, in steps. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* MAP_NORESERVE, MADV_NOHUGEPAGE */
#endif
#include "task/stack.h"

#include "base/mem.h"
#include "base/mistake.h"

#include <stdbool.h>
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

static bool map(fi_task_stack *s)
{
    for (size_t size = space_to_ask_for(); size >= SPACE_LEAST; size /= 4) {
        void *at = mmap(NULL, size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (at == MAP_FAILED)
            continue;
        madvise(at, size, MADV_NOHUGEPAGE); /* most stacks need a page or two */
        s->base = at;
        s->end = s->base + size;
        return true;
    }
    return false;
}

fi_task_stack *fi_task_stack_new(void)
{
    fi_task_stack *s = FI_NEW(fi_task_stack);

    if (!s)
        return NULL;
    if (!map(s)) {
        FI_DELETE(fi_task_stack, s);
        return NULL;
    }
    s->first = s->split = s->base;
    s->limit = s->base + STEP;
    return s;
}

void fi_task_stack_free(void *stack)
{
    fi_task_stack *s = stack;

    munmap(s->base, (size_t)(s->end - s->base));
    FI_DELETE(fi_task_stack, s);
}

void fi_task_stack_trim(fi_task_stack *s)
{
    size_t used = (size_t)(s->limit - s->base);

    if (used <= KEPT)
        return;
    madvise(s->base + KEPT, used - KEPT + FILCH_SLOT_MAX_, MADV_DONTNEED);
    s->limit = s->base + KEPT;
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
        fi_mistake("no room for another open FILCH_SPAWN in this fiber");
    s->limit += step;
}

char *fi_task_stack_nest(fi_task_stack *s)
{
    char *base = s->limit + FILCH_SLOT_MAX_;

    base += 16 - (size_t)(base - s->base) % 16;
    if (s->end - base < (ptrdiff_t)(NEST_STEP + FILCH_SLOT_MAX_))
        fi_mistake("no room for another FILCH_RUN inside a task");
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
