/* Address space for slots, in steps. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* MAP_NORESERVE, MADV_NOHUGEPAGE */
#endif
#include "task/stack.h"

#include "base/mem.h"
#include "base/mistake.h"

#include <stdbool.h>
#include <sys/mman.h>

#define SPACE_MOST  ((size_t)1 << 30) /* 33 million small tasks open in one fiber */
#define SPACE_LEAST ((size_t)16 << 20)
#define STEP        ((size_t)1 << 16)
#define NEST_STEP   ((size_t)1 << 12)
#define KEPT        ((size_t)4 << 20) /* stays warm when all slots are gone: 130,000 small tasks */

/* Less where the process may not have so much. */
static bool map(fi_task_stack *s)
{
    for (size_t size = SPACE_MOST; size >= SPACE_LEAST; size /= 4) {
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
    s->split = s->base;
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
    char *kept = s->base + KEPT;

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
        fi_mistake("no room for another open FILCH_SPAWN in this fiber");
    s->limit += step;
}

char *fi_task_stack_nest(fi_task_stack *s)
{
    char *base = s->limit + FILCH_SLOT_MAX_;

    base += 16 - (size_t)(base - s->base) % 16;
    if (s->end - base < (ptrdiff_t)(NEST_STEP + FILCH_SLOT_MAX_))
        fi_mistake("no room for another FILCH_RUN inside a task");
    s->split = base;
    s->limit = base + NEST_STEP;
    return base;
}
