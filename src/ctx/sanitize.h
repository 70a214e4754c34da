/* AddressSanitizer and ThreadSanitizer have state for each stack and must be told of every switch.
 * FI_CTX_TOLD is 1 in a build with one of them.  The switch is a call then. */
#ifndef FI_CTX_SANITIZE_H
#define FI_CTX_SANITIZE_H

#include "base/compiler.h"

#include <stddef.h>

#define FI_CTX_TOLD (FI_UNDER_ASAN || FI_UNDER_TSAN)

#if FI_CTX_TOLD
typedef struct fi_ctx_sanitize {
    void *fiber;      /* TSan's handle of this context */
    void *fake_stack; /* ASan's frames for use-after-return, while suspended */
    void *stack_low;  /* ASan needs the bounds of the target stack */
    size_t stack_size;
    void (*entry)(void *); /* of a new context, called by asan_entry */
    void *arg;
} fi_ctx_sanitize;
#endif

#endif
