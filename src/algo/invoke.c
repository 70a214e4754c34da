/* Functions side by side.  They are few and may be long, so each is public from the start: a spawn could stay private
 * for as long as another of them runs. */
#include <filch/algo.h>
#include <filch/job.h>
#include <filch/task.h>

#include <stdatomic.h>

typedef struct calls {
    void (*const *plain)(void); /* one of these two */
    void (*const *with)(void *ctx);
    void *ctx;
    size_t n;
    atomic_size_t next; /* relaxed, as it tells of nothing but itself */
} calls;

/* As many calls of this as there are functions, in any order. */
static void call_next(void *arg)
{
    calls *c = arg;
    size_t i = atomic_fetch_add_explicit(&c->next, 1, memory_order_relaxed);

    if (c->plain)
        c->plain[i]();
    else
        c->with[i](c->ctx);
}

/* One is ours, and so is what could not be started for want of memory. */
FILCH_VOID_TASK(call_all, calls *, c)
{
    filch_group others = FILCH_GROUP_INIT;
    size_t started = 0;

    for (size_t i = 1; i < c->n; i++)
        started += filch_group_run(&others, call_next, c) == 0;
    for (; started < c->n; started++)
        call_next(c);
    filch_group_wait(&others);
}

void filch_invoke_(void (*const *functions)(void), size_t n)
{
    calls c = {.plain = functions, .n = n};

    FILCH_RUN(call_all, &c);
}

void filch_invoke_with_(void *ctx, void (*const *functions)(void *ctx), size_t n)
{
    calls c = {.with = functions, .ctx = ctx, .n = n};

    FILCH_RUN(call_all, &c);
}
