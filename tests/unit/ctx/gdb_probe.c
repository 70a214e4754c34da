/* A program that stops inside a context, for gdb to inspect. */
#include "ctx/ctx.h"

#define NOINLINE __attribute__((noinline))

static fi_ctx home, away;
static _Alignas(16) char stack[65536];
static volatile int visits;

void probe_here(void);
void probe_middle(int depth);
void probe_entry(void *arg);

NOINLINE void probe_here(void)
{
    visits++;
}

NOINLINE void probe_middle(int depth)
{
    if (depth > 0)
        probe_middle(depth - 1);
    fi_ctx_switch(&away, &home); /* gdb stops after a switch away and back */
    probe_here();
    visits++;
}

NOINLINE void probe_entry(void *arg)
{
    (void)arg;
    probe_middle(2);
    fi_ctx_leave(&away, &home);
}

int main(void)
{
    fi_ctx_init_thread(&home);
    fi_ctx_make(&away, stack, sizeof stack, probe_entry, NULL);
    for (int i = 0; i < 4; i++)
        fi_ctx_switch(&home, &away);
    fi_ctx_fini(&away);
    return visits == 6 ? 0 : 1;
}
