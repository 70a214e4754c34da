/* Memory from the kernel.  Observers do not use the program's allocator, which may be locked or
 * broken at an incident. */
#ifndef FI_OBSERVE_VM_H
#define FI_OBSERVE_VM_H

#include <stddef.h>
#include <sys/mman.h>

/* [any] Zeroed memory.  Returns: NULL if there is no memory. */
static inline void *fi_vm_map(size_t size)
{
    void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    return at == MAP_FAILED ? NULL : at;
}

/* [any] at may be NULL. */
static inline void fi_vm_unmap(void *at, size_t size)
{
    if (at)
        munmap(at, size);
}

#endif
