/* What stands below a stack so that an overflow is noticed.
 *
 *   MADVISE  the kernel marks the pages (Linux 6.13).  Costs no mapping: a million are fine.
 *   PROTECT  mprotect.  Costs two mappings each, and a process has 65,530 of them by default.
 *   CANARY   nothing can be set up: the page next to the stack must still be all zeros when the stack is freed.
 *            It is never written by us, so it costs no memory; an overflow is found late.
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

/* [any] The kind that wanted comes to on this kernel, found by trying; -ENOTSUP when a certain one
 * was wanted and does not work, another -errno when not even a page could be had. */
int fi_stack_guard_probe(const fi_stack_vm *vm, fi_stack_guard wanted, size_t page);

/* [any] Guard the pages with that kind; 0 or -errno.  A canary always works. */
int fi_stack_guard_install(const fi_stack_vm *vm, fi_stack_guard kind, void *at, size_t bytes);

/* [any] Is a canary still as it was? */
bool fi_stack_guard_intact(const void *at, size_t bytes);

#endif
