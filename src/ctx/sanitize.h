/* AddressSanitizer and ThreadSanitizer keep a state per stack and must be told of every switch.
 * FI_CTX_TOLD is 1 in a build that has one of them; the switch is then a call. */
#ifndef FI_CTX_SANITIZE_H
#define FI_CTX_SANITIZE_H

#include "base/compiler.h"

#include <stddef.h>

#define FI_CTX_TOLD (FI_UNDER_ASAN || FI_UNDER_TSAN)

#if FI_CTX_TOLD
typedef struct fi_ctx_sanitize {
    void *fiber;           /* TSan's name for this context */
    void *fake_stack;      /* ASan's frames kept for use-after-return, while switched away */
    void *stack_low;       /* ASan wants the bounds of the stack it arrives on */
    size_t stack_size;     /* ... */
    void (*entry)(void *); /* what a new context runs after ASan was told that it arrived */
    void *arg;
} fi_ctx_sanitize;
#endif

#endif
