/* Contexts by the C library's getcontext, makecontext and swapcontext. */
#include "ctx/regs.h"

#ifdef FI_CTX_BY_UCONTEXT

/* makecontext passes only ints, so a pointer is passed as two halves. */
struct halves {
    unsigned high, low;
};

static struct halves split_pointer(const void *p)
{
    uint64_t v = (uintptr_t)p;
    return (struct halves){(unsigned)(v >> 32), (unsigned)v};
}

static void *join_pointer(unsigned high, unsigned low)
{
    return (void *)(uintptr_t)((uint64_t)high << 32 | low);
}

static void ucontext_entry(unsigned entry_high, unsigned entry_low, unsigned arg_high,
                           unsigned arg_low)
{
    void (*entry)(void *) = (void (*)(void *))(uintptr_t)join_pointer(entry_high, entry_low);

    entry(join_pointer(arg_high, arg_low));
    fi_ctx_entry_returned();
}

void fi_ctx_regs_make(fi_ctx_regs *regs, void *stack_low, size_t stack_size, void (*entry)(void *),
                      void *arg)
{
    struct halves e = split_pointer((void *)(uintptr_t)entry), a = split_pointer(arg);

    getcontext(&regs->uc);
    regs->uc.uc_stack.ss_sp = stack_low;
    regs->uc.uc_stack.ss_size = stack_size;
    regs->uc.uc_link = NULL;
    makecontext(&regs->uc, (void (*)(void))ucontext_entry, 4, e.high, e.low, a.high, a.low);
}

bool fi_ctx_unwind_from(const fi_ctx *c, void (*unwind)(void *arg), void *arg)
{
    (void)c, (void)unwind, (void)arg;
    return false;
}

const void *fi_ctx_pc(const fi_ctx *c)
{
    (void)c;
    return NULL;
}

void fi_ctx_fpenv_get(fi_ctx_fpenv *m)
{
    m->none = 0;
}

void fi_ctx_fpenv_set(fi_ctx *c, const fi_ctx_fpenv *m)
{
    (void)c, (void)m;
}

void fi_ctx_fpenv_load(const fi_ctx_fpenv *m)
{
    (void)m;
}

void fi_ctx_swap(fi_ctx_regs *from, fi_ctx_regs *to)
{
    swapcontext(&from->uc, &to->uc);
}

#endif
