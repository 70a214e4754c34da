/* The switch on aarch64 (AAPCS64).
 *
 * x29 and x19 are saved by hand, because compilers may need them to find the frame and then refuse
 * them as clobbered.  x18 is a plain scratch register on Linux.  The stack pointer changes in the
 * last instruction before the jump, so that unwind tables are right everywhere else.
 */
#ifndef FI_CTX_SWITCH_AARCH64_H
#define FI_CTX_SWITCH_AARCH64_H

#include <stddef.h>
#include <stdint.h>

typedef struct fi_ctx_regs {
    void *sp;
    void *pc;
    void *x29;
    void *x19;
    uint64_t fpcr;
} fi_ctx_regs;

typedef struct fi_ctx_fpenv {
    uint64_t fpcr;
} fi_ctx_fpenv;

_Static_assert(offsetof(fi_ctx_regs, sp) == 0, "offset used in fi_ctx_swap");
_Static_assert(offsetof(fi_ctx_regs, pc) == 8, "offset used in fi_ctx_swap");
_Static_assert(offsetof(fi_ctx_regs, x29) == 16, "offset used in fi_ctx_swap");
_Static_assert(offsetof(fi_ctx_regs, x19) == 24, "offset used in fi_ctx_swap");
_Static_assert(offsetof(fi_ctx_regs, fpcr) == 32, "offset used in fi_ctx_swap");

/* A v register covers the low part of its z register.  Code for the base standard has no
 * call-preserved predicate registers, so they need no clobbers. */
static inline __attribute__((always_inline)) void fi_ctx_swap(fi_ctx_regs *from, fi_ctx_regs *to)
{
    register fi_ctx_regs *f __asm__("x0") = from;
    register fi_ctx_regs *t __asm__("x1") = to;

    __asm__ volatile("adr x2, 1f\n\t"
                     "mov x3, sp\n\t"
                     "mrs x4, fpcr\n\t"
                     "stp x3, x2, [%0]\n\t"
                     "stp x29, x19, [%0, #16]\n\t"
                     "str x4, [%0, #32]\n\t"
                     "ldp x3, x2, [%1]\n\t"
                     "ldp x29, x19, [%1, #16]\n\t"
                     "ldr x5, [%1, #32]\n\t"
                     "cmp x4, x5\n\t"
                     "b.eq 2f\n\t"
                     "msr fpcr, x5\n\t"
                     "2:\n\t"
                     "mov sp, x3\n\t"
                     "br x2\n\t"
                     "1:"
                     : "+r"(f), "+r"(t)
                     :
                     : "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13",
                       "x14", "x15", "x16", "x17", "x18", "x20", "x21", "x22", "x23", "x24", "x25",
                       "x26", "x27", "x28", "x30", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7",
                       "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15", "v16", "v17", "v18",
                       "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28", "v29",
                       "v30", "v31", "cc", "memory");
}

#endif
