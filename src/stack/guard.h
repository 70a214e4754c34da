/* Guards: the pages below a stack, which detect an overflow.
 *
 *   MADVISE  the kernel marks the pages (Linux 6.13).  Costs no mapping: a million are fine.
 *   PROTECT  mprotect.  Costs two mappings each, and a process has 65,530 of them by default.
 *   CANARY   no protection: the page next to the stack must still be zero when the stack is freed.
 *            It is never written, so it costs no memory.  An overflow is detected late.
 */
#ifndef FI_STACK_GUARD_H
#define FI_STACK_GUARD_H

#include "stack/vm.h"

#include <stdbool.h>
#include <stddef.h>

typedef enum fi_stack_guard {
    FI_STACK_GUARD_BEST, /* in a config: the first of these that works */
    FI_STACK_GUARD_MADVISE,
    FI_STACK_GUARD_PROTECT,
    FI_STACK_GUARD_CANARY,
} fi_stack_guard;

#define FI_STACK_GUARD_KINDS 4

/* [any] "madvise", "mprotect", "canary" or "best". */
const char *fi_stack_guard_name(fi_stack_guard kind);

/* [any] Find by trial the kind that wanted means on this kernel, and whether several such guards
 * can be installed with one call. Returns: the kind; -ENOTSUP: the wanted kind does not work;
 * another -errno: no page could be mapped. */
int fi_stack_guard_probe(const fi_stack_vm *vm, fi_stack_guard wanted, size_t page, bool *many);

/* [any] Install a guard of that kind.  A canary always succeeds.  Returns: 0; -errno. */
int fi_stack_guard_install(const fi_stack_vm *vm, fi_stack_guard kind, void *at, size_t bytes);

/* [any] Install n guards of the kind MADVISE with one call.
 * Returns: 0; -errno: some of them may be missing. */
int fi_stack_guard_install_many(const fi_stack_vm *vm, const struct iovec *guards, size_t n);

/* [any] Whether a canary is unchanged. */
bool fi_stack_guard_intact(const void *at, size_t bytes);

#endif
