/* A saved point of execution on a stack of its own, and the switch between two of them.
 *
 *     static fi_ctx home, there;
 *     static void entry(void *arg) { for (;;) fi_ctx_switch(&there, &home); }
 *
 *     fi_ctx_init_thread(&home);
 *     fi_ctx_make(&there, stack, stack_size, entry, NULL);
 *     fi_ctx_switch(&home, &there);          // returns when somebody switches to &home
 *     fi_ctx_fini(&there);
 *
 * Why the switch is inline.  A called switch returns with `ret` on a stack that its `call` was not
 * made on, so the processor's return predictor is wrong every time: 9 ns here.  Inlined, with every
 * register that a call may not spoil given to the compiler as spoiled, only the registers in use
 * are saved, and the way back is an indirect jump that is predicted from its place in the program.
 *
 * What a context keeps: stack pointer, program counter, all call-preserved registers, and the
 * floating-point *control* words (rounding, precision, traps, flush to zero).  As after any call,
 * the floating-point *status* flags and everything call-clobbered are not kept.
 *
 * A context may be resumed by another thread than the one that saved it.  The compiler does not
 * know that: an address of a thread-local (errno is one) taken before a switch is wrong after it.
 *
 * C++ keeps the exceptions in flight of a *thread* (__cxa_get_globals: those being handled, and how
 * many are on their way).  A context does not keep that.  Two contexts that switch inside a catch
 * block would get each other's exception: the scheduler above has to save and restore these two
 * words per fiber, where the C++ library is linked.
 *
 * No shadow stacks: this room's assembly is not marked for them, so the linker leaves them off.
 */
#ifndef FI_CTX_CTX_H
#define FI_CTX_CTX_H

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
#include "ctx/sanitize.h"

typedef struct fi_ctx fi_ctx;

/* In caller's storage, which must stay where it is while the context lives. */
struct fi_ctx {
    fi_ctx_regs regs;
#if FI_CTX_TOLD
    fi_ctx_sanitize san;
#endif
};

/* [any] Make c the context of the calling thread, on the stack it already has. */
void fi_ctx_init_thread(fi_ctx *c);

/* [any] Make c start in entry(arg) on the given stack, with the caller's floating-point control
 * words, when it is first switched to.  entry never returns: it ends in fi_ctx_leave, or in a
 * switch that nobody answers.  Either end of the stack may be unaligned. */
void fi_ctx_make(fi_ctx *c, void *stack_low, size_t stack_size, void (*entry)(void *arg),
                 void *arg);

/* [any] The floating-point control words of the calling thread; a context that is away goes on with these, or
 * the calling one does. */
void fi_ctx_fpenv_get(fi_ctx_fpenv *m);
void fi_ctx_fpenv_set(fi_ctx *c, const fi_ctx_fpenv *m);
void fi_ctx_fpenv_load(const fi_ctx_fpenv *m);

/* [any] Call look(arg) as if from the point that c was saved at: who unwinds the stack from there comes to that point,
 * and on from it.  Nothing of c or its stack is touched, and c must stay away meanwhile.  False: c has not begun, or
 * this kind of context cannot be looked at. */
bool fi_ctx_unwind_from(const fi_ctx *c, void (*look)(void *arg), void *arg);

/* [any] Where c goes on. */
const void *fi_ctx_pc(const fi_ctx *c);

/* [any] Forget c, which must not be running.  Its stack and storage are the caller's again. */
void fi_ctx_fini(fi_ctx *c);

#if FI_CTX_TOLD

void fi_ctx_switch(fi_ctx *from, fi_ctx *to);
_Noreturn void fi_ctx_leave(fi_ctx *from, fi_ctx *to);

#else

/* Compilers know that assembly cannot call back into the file, and keep file-local variables in
 * registers across a call of a function that switches.  So tell them of a call that they cannot see
 * through, on a path that is never taken and costs nothing. */
static inline __attribute__((always_inline)) void fi_ctx_clobber_all(void)
{
    void (*unknown)(void);

    __asm__ goto("" : : : "memory" : never);
    return;
never:
    __asm__("" : "=r"(unknown));
    unknown();
}

/* [the thread that runs from] Save this point in from and go on where to was saved. */
static inline __attribute__((always_inline)) void fi_ctx_switch(fi_ctx *from, fi_ctx *to)
{
    fi_ctx_swap(&from->regs, &to->regs);
    fi_ctx_clobber_all();
}

/* [the thread that runs from] Go on where to was saved, for good: from is not resumed again, only
 * finished or made anew. */
_Noreturn static inline __attribute__((always_inline)) void fi_ctx_leave(fi_ctx *from, fi_ctx *to)
{
    fi_ctx_swap(&from->regs, &to->regs);
    __builtin_unreachable();
}

#endif
#endif
