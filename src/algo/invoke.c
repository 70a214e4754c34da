/* Run functions in parallel.  They are few and may be long, so each is published at once: a spawned
 * task could stay private while another one runs. */
#include "base/message.h"

#include <filch/algo.h>
#include <filch/job.h>
#include <filch/task.h>

#include <stdatomic.h>

typedef struct invocation {
    void (*const *functions)(void); /* this or the next is set */
    void (*const *ctx_functions)(void *ctx);
    void *ctx;
    size_t n;
    atomic_size_t next; /* relaxed, because no other data depends on it */
} invocation;

/* Call the next function.  Is called n times. */
static void call_next(void *arg)
{
    invocation *c = arg;
    size_t i = atomic_fetch_add_explicit(&c->next, 1, memory_order_relaxed);

    if (c->functions)
        c->functions[i]();
    else
        c->ctx_functions[i](c->ctx);
}

/* The caller runs one function, and those that could not be started for lack of memory. */
FILCH_VOID_TASK(invoke_all, invocation *, c)
{
    filch_group others = FILCH_GROUP_DROPS_NOTHING_;
    size_t started = 0;

    for (size_t i = 1; i < c->n; i++)
        started += filch_group_run(&others, call_next, c) == 0;
    for (; started < c->n; started++)
        call_next(c);
    filch_group_wait(&others);
}

static void report_null(const char *function, size_t i)
{
    fi_message_invalid("%s: function %zu is NULL; pass a function", function, i);
}

void filch_invoke_(void (*const *functions)(void), size_t n)
{
    invocation c = {.functions = functions, .n = n};

    for (size_t i = 0; i < n; i++)
        if (!functions[i]) {
            report_null("filch_invoke", i);
            return;
        }
    FILCH_RUN(invoke_all, &c);
}

void filch_invoke_with_(void *ctx, void (*const *functions)(void *ctx), size_t n)
{
    invocation c = {.ctx_functions = functions, .ctx = ctx, .n = n};

    for (size_t i = 0; i < n; i++)
        if (!functions[i]) {
            report_null("filch_invoke_with", i);
            return;
        }
    FILCH_RUN(invoke_all, &c);
}
