/* Unwinding from a saved context finds all its frames in order, and ends at its entry. */
#include "check.h"

#include "ctx/ctx.h"

#include <stdbool.h>
#include <unwind.h>

#define NOINLINE __attribute__((noinline))
#define DEPTH    6

static fi_ctx home, away;
static _Alignas(16) char stack[65536];
static const void *called_from[DEPTH + 1];

NOINLINE static void go_deeper(unsigned depth)
{
    volatile char *frame = __builtin_alloca(16 + 32 * (depth % 3));

    frame[0] = (char)depth;
    called_from[depth] = __builtin_return_address(0);
    if (depth > 0)
        go_deeper(depth - 1);
    else
        fi_ctx_switch(&away, &home);
    frame[1] = (char)depth;
}

static void entry(void *arg)
{
    (void)arg;
    go_deeper(DEPTH);
    fi_ctx_leave(&away, &home);
}

typedef struct seen {
    const void *at[64];
    unsigned n;
} seen;

static _Unwind_Reason_Code step(struct _Unwind_Context *context, void *arg)
{
    seen *s = arg;

    if (s->n == 64)
        return _URC_END_OF_STACK;
    s->at[s->n++] = (const void *)(uintptr_t)_Unwind_GetIP(context);
    return _URC_NO_REASON;
}

static void record_frames(void *arg)
{
    _Unwind_Backtrace(step, arg);
}

static void all_calls_in_order(void **state)
{
    seen s = {.n = 0};
    unsigned i = 0;

    (void)state;
    fi_ctx_init_thread(&home);
    fi_ctx_make(&away, stack, sizeof stack, entry, NULL);
    CHECK(!fi_ctx_unwind_from(&away, record_frames, &s)); /* it has not started */
    CHECK_INT(s.n, 0);
    fi_ctx_switch(&home, &away);
    if (fi_ctx_unwind_from(&away, record_frames, &s)) {
        while (i < s.n && s.at[i] != fi_ctx_pc(&away))
            i++;
        CHECK(i < s.n);
        while (i < s.n && s.at[i] != called_from[0])
            i++;
        for (unsigned depth = 0; depth <= DEPTH; depth++)
            CHECK(i + depth < s.n && s.at[i + depth] == called_from[depth]);
        CHECK(s.n < 64); /* the walk ended */
    }
    fi_ctx_switch(&home, &away);
    fi_ctx_fini(&away);
}

CHECK_MAIN(all_calls_in_order)
