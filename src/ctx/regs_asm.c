/* The first frame of a context, for the switches written in assembly. */
#include "ctx/regs.h"

#ifndef FI_CTX_BY_UCONTEXT

/* The assembly finds these two words at the stack pointer. */
struct first_frame {
    void (*entry)(void *);
    void *arg;
};

_Static_assert(sizeof(struct first_frame) == 16, "offsets and alignment used in fi_ctx_start");

/* Never called from C: only its address is taken. */
void fi_ctx_start(void);

/* Its unwind table says that its caller is the point where regs were saved. */
void fi_ctx_call_from(const fi_ctx_regs *regs, void (*unwind)(void *), void *arg);

bool fi_ctx_unwind_from(const fi_ctx *c, void (*unwind)(void *arg), void *arg)
{
    if (c->regs.pc == (void *)(uintptr_t)fi_ctx_start)
        return false; /* it has not started */
    fi_ctx_call_from(&c->regs, unwind, arg);
    return true;
}

const void *fi_ctx_pc(const fi_ctx *c)
{
    return c->regs.pc;
}

#if defined __x86_64__
void fi_ctx_fpenv_get(fi_ctx_fpenv *m)
{
    __asm__ volatile("stmxcsr %0\n\tfnstcw %1" : "=m"(m->mxcsr), "=m"(m->x87cw));
}

void fi_ctx_fpenv_set(fi_ctx *c, const fi_ctx_fpenv *m)
{
    c->regs.mxcsr = m->mxcsr;
    c->regs.x87cw = m->x87cw;
}

/* Loading is slow and rarely needed.  Bits 0 to 5 of mxcsr are status. */
void fi_ctx_fpenv_load(const fi_ctx_fpenv *m)
{
    fi_ctx_fpenv now;

    fi_ctx_fpenv_get(&now);
    if (((now.mxcsr ^ m->mxcsr) & 0xffc0) != 0)
        __asm__ volatile("ldmxcsr %0" ::"m"(m->mxcsr));
    if (now.x87cw != m->x87cw)
        __asm__ volatile("fldcw %0" ::"m"(m->x87cw));
}

static void end_frames(fi_ctx_regs *regs)
{
    regs->bp = NULL; /* the frame-pointer chain ends here */
    regs->bx = NULL;
}
#else
void fi_ctx_fpenv_get(fi_ctx_fpenv *m)
{
    __asm__ volatile("mrs %0, fpcr" : "=r"(m->fpcr));
}

void fi_ctx_fpenv_set(fi_ctx *c, const fi_ctx_fpenv *m)
{
    c->regs.fpcr = m->fpcr;
}

void fi_ctx_fpenv_load(const fi_ctx_fpenv *m)
{
    __asm__ volatile("msr fpcr, %0" ::"r"(m->fpcr));
}

static void end_frames(fi_ctx_regs *regs)
{
    regs->x29 = NULL; /* the frame-pointer chain ends here */
    regs->x19 = NULL;
}
#endif

void fi_ctx_regs_make(fi_ctx_regs *regs, void *stack_low, size_t stack_size, void (*entry)(void *),
                      void *arg)
{
    uintptr_t top = ((uintptr_t)stack_low + stack_size) & ~(uintptr_t)15;
    struct first_frame *frame = (struct first_frame *)(top - sizeof *frame);

    frame->entry = entry;
    frame->arg = arg;
    regs->sp = frame;
    regs->pc = (void *)(uintptr_t)fi_ctx_start;
    end_frames(regs);
}

#endif
