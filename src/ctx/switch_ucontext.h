/* The switch by the C library, for processors without assembly here.  It is slow: each swap is a
 * system call for the signal mask. */
#ifndef FI_CTX_SWITCH_UCONTEXT_H
#define FI_CTX_SWITCH_UCONTEXT_H

#include <ucontext.h>

typedef struct fi_ctx_regs {
    ucontext_t uc;
} fi_ctx_regs;

/* The C library keeps the floating-point environment in its own context: it stays that of the
 * maker. */
typedef struct fi_ctx_fpenv {
    char none;
} fi_ctx_fpenv;

#define FI_CTX_BY_UCONTEXT 1

/* [the thread that runs from] Save this point in from and continue where to was saved. */
void fi_ctx_swap(fi_ctx_regs *from, fi_ctx_regs *to);

#endif
