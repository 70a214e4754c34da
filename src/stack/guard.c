/* Install and probe the guards of stacks, for pool.c; check canaries, for cache.c. */
#include "stack/guard.h"

#include <errno.h>
#include <stdint.h>

/* Since Linux 6.13; older headers do not have it. */
#define GUARD_INSTALL 102

const char *fi_stack_guard_name(fi_stack_guard kind)
{
    static const char *const names[FI_STACK_GUARD_KINDS] = {"best", "madvise", "mprotect",
                                                            "canary"};

    return (unsigned)kind < FI_STACK_GUARD_KINDS ? names[kind] : "unknown";
}

int fi_stack_guard_install(const fi_stack_vm *vm, fi_stack_guard kind, void *at, size_t bytes)
{
    switch (kind) {
    case FI_STACK_GUARD_MADVISE:
        return vm->advise(vm->ctx, at, bytes, GUARD_INSTALL);
    case FI_STACK_GUARD_PROTECT:
        return vm->protect(vm->ctx, at, bytes);
    default:
        return 0;
    }
}

int fi_stack_guard_install_many(const fi_stack_vm *vm, const struct iovec *guards, size_t n)
{
    return vm->advise_many(vm->ctx, guards, n, GUARD_INSTALL);
}

/* Emulators and sandboxes return 0 for advice that they do not know, so test whether the page is
 * really inaccessible. */
static bool guard_works(const fi_stack_vm *vm, fi_stack_guard kind, void *at, size_t page)
{
    return fi_stack_guard_install(vm, kind, at, page) == 0 &&
           (kind == FI_STACK_GUARD_CANARY || !vm->readable(vm->ctx, at));
}

static bool many_guards_work(const fi_stack_vm *vm, char *at, size_t page)
{
    struct iovec guards[] = {{at, page}, {at + 2 * page, page}};

    return fi_stack_guard_install_many(vm, guards, 2) == 0 && !vm->readable(vm->ctx, at) &&
           !vm->readable(vm->ctx, at + 2 * page);
}

#define PROBE_PAGES 4

int fi_stack_guard_probe(const fi_stack_vm *vm, fi_stack_guard wanted, size_t page, bool *many)
{
    fi_stack_guard kind = wanted == FI_STACK_GUARD_BEST ? FI_STACK_GUARD_MADVISE : wanted;
    void *at;
    int e = vm->map(vm->ctx, PROBE_PAGES * page, &at);

    if (e < 0)
        return e;
    while (!guard_works(vm, kind, at, page))
        kind++;
    *many = kind == FI_STACK_GUARD_MADVISE && many_guards_work(vm, (char *)at + page, page);
    vm->unmap(vm->ctx, at, PROBE_PAGES * page);
    return wanted == FI_STACK_GUARD_BEST || kind == wanted ? (int)kind : -ENOTSUP;
}

bool fi_stack_guard_intact(const void *at, size_t bytes)
{
    const uint64_t *word = at;
    uint64_t all = 0;

    for (size_t i = 0; i < bytes / sizeof *word; i++)
        all |= word[i];
    return all == 0;
}
