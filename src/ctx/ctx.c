/* The common part of all kinds of switch, and the calls of the sanitizers. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* pthread_getattr_np */
#endif
#include "ctx/ctx.h"

#include "base/fatal.h"
#include "ctx/regs.h"

#include <string.h>

/* For the first frames of entry.  A smaller size is certainly an error of the caller. */
#define STACK_SIZE_MIN 1024

_Noreturn void fi_ctx_entry_returned(void)
{
    fi_fatal("fi_ctx_make: the entry function returned; it must end with fi_ctx_leave");
}

#if FI_UNDER_ASAN

#include <pthread.h>
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#include <sanitizer/lsan_interface.h>

/* LeakSanitizer would not scan the stack of a thread that runs on another stack. */
static void san_init_thread(fi_ctx *c)
{
    pthread_attr_t attr;

    if (pthread_getattr_np(pthread_self(), &attr) != 0)
        fi_fatal("fi_ctx_init_thread: the bounds of this thread's stack are unknown");
    pthread_attr_getstack(&attr, &c->san.stack_low, &c->san.stack_size);
    pthread_attr_destroy(&attr);
    __lsan_register_root_region(c->san.stack_low, c->san.stack_size);
}

/* The first function on a new stack.  Tells ASan that the switch is complete. */
static void asan_entry(void *arg)
{
    fi_ctx *c = arg;

    __sanitizer_finish_switch_fiber(NULL, NULL, NULL);
    c->san.entry(c->san.arg);
    fi_ctx_entry_returned();
}

static void san_make(fi_ctx *c, void *low, size_t size)
{
    /* Frames of a former user of this stack that never returned are still poisoned. */
    ASAN_UNPOISON_MEMORY_REGION(low, size);
    c->san.stack_low = low;
    c->san.stack_size = size;
}

static void san_fini(fi_ctx *c)
{
    if (!c->san.entry)
        __lsan_unregister_root_region(c->san.stack_low, c->san.stack_size);
}

void fi_ctx_switch(fi_ctx *from, fi_ctx *to)
{
    __sanitizer_start_switch_fiber(&from->san.fake_stack, to->san.stack_low, to->san.stack_size);
    fi_ctx_swap(&from->regs, &to->regs);
    __sanitizer_finish_switch_fiber(from->san.fake_stack, NULL, NULL);
}

_Noreturn void fi_ctx_leave(fi_ctx *from, fi_ctx *to)
{
    __sanitizer_start_switch_fiber(NULL, to->san.stack_low, to->san.stack_size);
    fi_ctx_swap(&from->regs, &to->regs);
    fi_fatal("fi_ctx_switch: the context was resumed after fi_ctx_leave");
}

#elif FI_UNDER_TSAN

#include <sanitizer/tsan_interface.h>

static void san_init_thread(fi_ctx *c)
{
    c->san.fiber = __tsan_get_current_fiber();
}

static void san_make(fi_ctx *c, void *low, size_t size)
{
    (void)low, (void)size;
    c->san.fiber = __tsan_create_fiber(0);
    c->san.stack_low = low; /* distinguishes a made context from that of a thread */
}

static void san_fini(fi_ctx *c)
{
    if (c->san.stack_low)
        __tsan_destroy_fiber(c->san.fiber);
}

void fi_ctx_switch(fi_ctx *from, fi_ctx *to)
{
    __tsan_switch_to_fiber(to->san.fiber, 0);
    fi_ctx_swap(&from->regs, &to->regs);
}

_Noreturn void fi_ctx_leave(fi_ctx *from, fi_ctx *to)
{
    fi_ctx_switch(from, to);
    fi_fatal("fi_ctx_switch: the context was resumed after fi_ctx_leave");
}

#endif

void fi_ctx_init_thread(fi_ctx *c)
{
    memset(c, 0, sizeof *c);
#if FI_CTX_SANITIZED
    san_init_thread(c);
#endif
}

void fi_ctx_make(fi_ctx *c, void *stack_low, size_t stack_size, void (*entry)(void *arg), void *arg)
{
    fi_ctx_fpenv env;

    if (!stack_low || stack_size < STACK_SIZE_MIN || !entry)
        fi_fatal("fi_ctx_make: needs an entry function and a stack of at least 1024 bytes");
#if FI_CTX_SANITIZED
    memset(&c->san, 0, sizeof c->san);
    san_make(c, stack_low, stack_size);
#endif
#if FI_UNDER_ASAN
    c->san.entry = entry;
    c->san.arg = arg;
    entry = asan_entry;
    arg = c;
#endif
    fi_ctx_regs_make(&c->regs, stack_low, stack_size, entry, arg);
    fi_ctx_fpenv_get(&env);
    fi_ctx_fpenv_set(c, &env);
}

void fi_ctx_fini(fi_ctx *c)
{
#if FI_CTX_SANITIZED
    san_fini(c);
#endif
    (void)c;
}
