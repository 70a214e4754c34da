/* The switch on x86-64 (System V).
 *
 * The red zone is safe: nothing is pushed, and no code runs on the stack of a suspended context.
 * rbp and rbx are saved by hand, because compilers may need them to find the frame and then refuse
 * (or overlook) them as clobbered.  The stack pointer changes in the last instruction before the
 * jump, so that unwind tables are right everywhere else.
 */
#ifndef FI_CTX_SWITCH_X86_64_H
#define FI_CTX_SWITCH_X86_64_H

#include <stddef.h>
#include <stdint.h>

typedef struct fi_ctx_regs {
    void *sp;
    void *pc;
    void *bp;
    void *bx;
    uint32_t mxcsr;
    uint16_t x87cw;
} fi_ctx_regs;

typedef struct fi_ctx_fpenv {
    uint32_t mxcsr;
    uint16_t x87cw;
} fi_ctx_fpenv;

_Static_assert(offsetof(fi_ctx_regs, sp) == 0, "offset used in fi_ctx_swap");
_Static_assert(offsetof(fi_ctx_regs, pc) == 8, "offset used in fi_ctx_swap");
_Static_assert(offsetof(fi_ctx_regs, bp) == 16, "offset used in fi_ctx_swap");
_Static_assert(offsetof(fi_ctx_regs, bx) == 24, "offset used in fi_ctx_swap");
_Static_assert(offsetof(fi_ctx_regs, mxcsr) == 32, "offset used in fi_ctx_swap");
_Static_assert(offsetof(fi_ctx_regs, x87cw) == 36, "offset used in fi_ctx_swap");

#ifdef __AVX512F__
#define FI_CTX_CLOBBERED_AVX512                                                                    \
    , "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "xmm24", "xmm25",    \
        "xmm26", "xmm27", "xmm28", "xmm29", "xmm30", "xmm31", "k0", "k1", "k2", "k3", "k4", "k5",  \
        "k6", "k7"
#else
#define FI_CTX_CLOBBERED_AVX512
#endif

static inline __attribute__((always_inline)) void fi_ctx_swap(fi_ctx_regs *from, fi_ctx_regs *to)
{
    __asm__ volatile(
        "stmxcsr 32(%0)\n\t"
        "fnstcw 36(%0)\n\t"
        "leaq 1f(%%rip), %%rax\n\t"
        "movq %%rsp, 0(%0)\n\t"
        "movq %%rax, 8(%0)\n\t"
        "movq %%rbp, 16(%0)\n\t"
        "movq %%rbx, 24(%0)\n\t"
        /* Loading a control word is slow and rarely needed.  Bits 0 to 5 of mxcsr are status. */
        "movl 32(%0), %%ecx\n\t"
        "xorl 32(%1), %%ecx\n\t"
        "andl $0xffc0, %%ecx\n\t"
        "movzwl 36(%0), %%edx\n\t"
        "xorw 36(%1), %%dx\n\t"
        "orl %%edx, %%ecx\n\t"
        "jz 2f\n\t"
        "ldmxcsr 32(%1)\n\t"
        "fldcw 36(%1)\n\t"
        "2:\n\t"
        "movq 8(%1), %%rax\n\t"
        "movq 16(%1), %%rbp\n\t"
        "movq 24(%1), %%rbx\n\t"
        "movq 0(%1), %%rsp\n\t"
        "jmp *%%rax\n\t"
        "1:"
        : "+D"(from), "+S"(to)
        :
        : "rax", "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "xmm0", "xmm1",
          "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12",
          "xmm13", "xmm14", "xmm15", "mm0", "mm1", "mm2", "mm3", "mm4", "mm5", "mm6", "mm7", "st",
          "st(1)", "st(2)", "st(3)", "st(4)", "st(5)", "st(6)", "st(7)", "cc",
          "memory" FI_CTX_CLOBBERED_AVX512);
}

#endif
