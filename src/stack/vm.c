/* The table of system calls that the stack pool uses, unless a test has its own. */
#include "stack/vm.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static int system_map(void *ctx, size_t bytes, void **at)
{
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK;
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);

    (void)ctx;
    if (p == MAP_FAILED)
        return -errno;
    *at = p;
    return 0;
}

static int system_unmap(void *ctx, void *at, size_t bytes)
{
    (void)ctx;
    return munmap(at, bytes) == 0 ? 0 : -errno;
}

static int system_advise(void *ctx, void *at, size_t bytes, int advice)
{
    (void)ctx;
    return madvise(at, bytes, advice) == 0 ? 0 : -errno;
}

static int system_protect(void *ctx, void *at, size_t bytes)
{
    (void)ctx;
    return mprotect(at, bytes, PROT_NONE) == 0 ? 0 : -errno;
}

/* The kernel reads a signal mask from memory before it rejects the invalid operation.  EFAULT means
 * that the memory cannot be read, EINVAL that it can.  Nothing is changed. */
static bool system_readable(void *ctx, const void *at)
{
    (void)ctx;
    return syscall(SYS_rt_sigprocmask, -1, at, NULL, 8) != 0 && errno != EFAULT;
}

const fi_stack_vm fi_stack_vm_system = {
    .map = system_map,
    .unmap = system_unmap,
    .advise = system_advise,
    .protect = system_protect,
    .readable = system_readable,
};
