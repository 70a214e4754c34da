/* Memory from the kernel.  Who looks at a program that is in trouble must not need its allocator. */
#ifndef FI_OBSERVE_VM_H
#define FI_OBSERVE_VM_H

#include <stddef.h>
#include <sys/mman.h>

/* [any] Zeroed; NULL: there is none. */
static inline void *fi_vm_map(size_t size)
{
    void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    return at == MAP_FAILED ? NULL : at;
}

/* [any] NULL is allowed. */
static inline void fi_vm_unmap(void *at, size_t size)
{
    if (at)
        munmap(at, size);
}

#endif
