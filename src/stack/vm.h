/* The system calls for stack memory, as a table, so that tests can replace them by calls that fail.
 * All return 0 or -errno. */
#ifndef FI_STACK_VM_H
#define FI_STACK_VM_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/uio.h>

typedef struct fi_stack_vm {
    int (*map)(void *ctx, size_t bytes, void **at); /* zeroed, readable, writable, committed late */
    int (*unmap)(void *ctx, void *at, size_t bytes);
    int (*advise)(void *ctx, void *at, size_t bytes, int advice);
    /* The same for n ranges.  After an error some of them may have been advised. */
    int (*advise_many)(void *ctx, const struct iovec *ranges, size_t n, int advice);
    int (*protect)(void *ctx, void *at, size_t bytes); /* no access from now on */
    bool (*readable)(void *ctx, const void *at);       /* without touching it */
    void *ctx;
} fi_stack_vm;

/* The kernel's. */
extern const fi_stack_vm fi_stack_vm_system;

#endif
