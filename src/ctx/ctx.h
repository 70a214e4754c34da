/* Contexts: a saved point of execution on its own stack, and the switch between two of them.
 *
 *     static fi_ctx main_ctx, other_ctx;
 *     static void entry(void *arg) { for (;;) fi_ctx_switch(&other_ctx, &main_ctx); }
 *
 *     fi_ctx_init_thread(&main_ctx);
 *     fi_ctx_make(&other_ctx, stack, stack_size, entry, NULL);
 *     fi_ctx_switch(&main_ctx, &other_ctx);  // returns after a switch to &main_ctx
 *     fi_ctx_fini(&other_ctx);
 *
 * The switch is inline.  A called switch returns with `ret` on another stack than its `call`, so
 * the processor mispredicts the return every time, which costs 9 ns.  Inlined, all call-preserved
 * registers are declared as clobbered.  The compiler then saves only the registers in use, and the
 * way back is an indirect jump that is predicted by its address.
 *
 * A context keeps the stack pointer, the program counter, all call-preserved registers, and the
 * floating-point control words (rounding, precision, traps, flush to zero).  As after any call, the
 * floating-point status flags and the call-clobbered registers are not kept.
 *
 * Another thread may resume a context.  The compiler does not know that: the address of a
 * thread-local variable, such as errno, taken before a switch is wrong after it.
 *
 * C++ keeps the exceptions in flight of each thread (__cxa_get_globals: the caught ones and the
 * number of uncaught ones).  A context does not keep them.  Two contexts that switch inside a catch
 * block would exchange their exceptions.  The scheduler saves and restores these two words for each
 * fiber if the C++ library is linked.
 *
 * The assembly here is not marked for shadow stacks, so the linker leaves them disabled.
 */
#ifndef FI_CTX_CTX_H
#define FI_CTX_CTX_H

#include "base/compiler.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined FI_CTX_UCONTEXT
#include "ctx/switch_ucontext.h"
#elif defined __x86_64__ && defined __LP64__
#include "ctx/switch_x86_64.h"
#elif defined __aarch64__ && defined __LP64__
#include "ctx/switch_aarch64.h"
#else
#endif

/* AddressSanitizer and ThreadSanitizer have state for each stack and must be told of every switch.
 * FI_CTX_SANITIZED is 1 in a build with one of them.  The switch is a call then. */
#define FI_CTX_SANITIZED (FI_UNDER_ASAN || FI_UNDER_TSAN)

#if FI_CTX_SANITIZED
typedef struct fi_ctx_sanitize {
    void *fiber;      /* TSan's handle of this context */
    void *fake_stack; /* ASan's frames for use-after-return, while suspended */
    void *stack_low;  /* ASan needs the bounds of the target stack */
    size_t stack_size;
    void (*entry)(void *); /* of a new context, called by asan_entry */
    void *arg;
} fi_ctx_sanitize;
#endif

typedef struct fi_ctx fi_ctx;

/* In the caller's storage, which must not move while the context exists. */
struct fi_ctx {
    fi_ctx_regs regs;
#if FI_CTX_SANITIZED
    fi_ctx_sanitize san;
#endif
};

/* [any] Make c the context of the calling thread, on the stack it already has. */
void fi_ctx_init_thread(fi_ctx *c);

/* [any] Make c start in entry(arg) on the given stack, with the caller's floating-point control
 * words, at the first switch to it.  entry must not return: it ends with fi_ctx_leave, or
 * with a switch after which it is never resumed.  Both ends of the stack may be unaligned. */
void fi_ctx_make(fi_ctx *c, void *stack_low, size_t stack_size, void (*entry)(void *arg),
                 void *arg);

/* [any] Get the floating-point control words of the calling thread; set those with which a
 * suspended context continues; load them into the calling thread. */
void fi_ctx_fpenv_get(fi_ctx_fpenv *m);
void fi_ctx_fpenv_set(fi_ctx *c, const fi_ctx_fpenv *m);
void fi_ctx_fpenv_load(const fi_ctx_fpenv *m);

/* [any] Call unwind(arg) as if from the point where c was saved, so that an unwinder in unwind
 * continues there.  Neither c nor its stack is changed, and c must stay suspended meanwhile.
 * Returns: false if c has not started, or cannot be unwound (ucontext). */
bool fi_ctx_unwind_from(const fi_ctx *c, void (*unwind)(void *arg), void *arg);

/* [any] The program counter where c continues. */
const void *fi_ctx_pc(const fi_ctx *c);

/* [any] c must not be running.  The caller may then reuse its stack and storage. */
void fi_ctx_fini(fi_ctx *c);

#if FI_CTX_SANITIZED

void fi_ctx_switch(fi_ctx *from, fi_ctx *to);
_Noreturn void fi_ctx_leave(fi_ctx *from, fi_ctx *to);

#else

/* Compilers assume that assembly does not call back into the file, and keep file-local variables in
 * registers across a switch.  An opaque call on a path that is never taken prevents that at no
 * cost. */
static inline __attribute__((always_inline)) void fi_ctx_clobber_all(void)
{
    void (*unknown)(void);

    __asm__ goto("" : : : "memory" : never);
    return;
never:
    __asm__("" : "=r"(unknown));
    unknown();
}

/* [the thread that runs from] Save this point in from and continue where to was saved. */
static inline __attribute__((always_inline)) void fi_ctx_switch(fi_ctx *from, fi_ctx *to)
{
    fi_ctx_swap(&from->regs, &to->regs);
    fi_ctx_clobber_all();
}

/* [the thread that runs from] Continue where to was saved.  from is never resumed, only finished or
 * made again. */
_Noreturn static inline __attribute__((always_inline)) void fi_ctx_leave(fi_ctx *from, fi_ctx *to)
{
    fi_ctx_swap(&from->regs, &to->regs);
    __builtin_unreachable();
}

#endif
#endif
