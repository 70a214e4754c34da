/* A worker's cache of stacks: fi_stack_alloc and fi_stack_free.  Called by sched/fiber.c. */
#include "base/fatal.h"
#include "stack/annotate.h"
#include "stack/overflow.h"
#include "stack/slab.h"
#include "stack/stack.h"

#include <errno.h>
#include <stdlib.h>

int fi_stack_cache_init(fi_stack_cache *c, fi_stack_pool *p, unsigned limit)
{
    if (limit > FI_STACK_CACHE_MAX)
        return -EINVAL;
    *c = (fi_stack_cache){.pool = p, .limit = limit ? limit : FI_STACK_CACHE_DEFAULT};
    return 0;
}

void fi_stack_cache_fini(fi_stack_cache *c)
{
    fi_stack_pool_free(c->pool, c->warm);
    *c = (fi_stack_cache){0};
}

/* [owner] Refill half at a time, so the lock is taken rarely, and the guards of new stacks are
 * installed with few system calls. */
static int cache_refill(fi_stack_cache *c)
{
    int n = fi_stack_pool_alloc(c->pool, &c->warm, c->limit / 2 + 1);

    if (n < 0)
        return n;
    c->n = (unsigned)n;
    for (fi_stack *s = c->warm; s; s = s->next)
        fi_stack_poison(s->low, s->size);
    return 0;
}

int fi_stack_alloc(fi_stack_cache *c, fi_stack **out)
{
    int e = c->warm ? 0 : cache_refill(c);

    if (e < 0)
        return e;
    fi_stack *s = c->warm;
    c->warm = s->next;
    c->n--;
    s->is_allocated = true;
    fi_stack_unpoison(s->low, s->size);
    *out = s;
    return 0;
}

/* [owner] Keep the half that was used more recently. */
static void cache_return_half(fi_stack_cache *c)
{
    fi_stack **cut = &c->warm;
    unsigned keep = c->limit / 2;

    for (unsigned i = 0; i < keep; i++)
        cut = &(*cut)->next;
    fi_stack_pool_free(c->pool, *cut);
    *cut = NULL;
    c->n = keep;
}

/* Checks only the page next to the stack, because reading more would map more.  Writes to the rest
 * of the guard harm no other stack. */
void fi_stack_check(const fi_stack *s, const char *name)
{
    size_t page = s->slab->pool->page;

    if (s->guard != FI_STACK_GUARD_CANARY || fi_stack_guard_intact(s->low - page, page))
        return;
    fi_stack_report_overflow(name, s->size);
    abort();
}

void fi_stack_free(fi_stack_cache *c, fi_stack *s, const char *name)
{
    if (!s->is_allocated)
        fi_fatal("fi_stack_free: the stack is free already");
    fi_stack_slab_check(c->pool, s);
    fi_stack_check(s, name);
    s->is_allocated = false;
    fi_stack_poison(s->low, s->size);
    s->next = c->warm;
    c->warm = s;
    if (++c->n > c->limit)
        cache_return_half(c);
}
