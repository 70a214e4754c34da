/* What each kind of switch implements for ctx.c. */
#ifndef FI_CTX_REGS_H
#define FI_CTX_REGS_H

#include "ctx/ctx.h"

/* [any] Make regs start in entry(arg) on the given stack. */
void fi_ctx_regs_make(fi_ctx_regs *regs, void *stack_low, size_t stack_size, void (*entry)(void *),
                      void *arg);

/* [the context itself] The entry function has returned, which is an error: abort. */
_Noreturn void fi_ctx_entry_returned(void);

#endif
