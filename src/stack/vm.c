/* The table of system calls that the stack pool uses, unless a test has its own. */
#include "stack/vm.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* PIDFD_SELF_THREAD, since Linux 6.14.  Older kernels return EBADF, and older headers do not have
 * it.  A descriptor from pidfd_open would mean the parent in the child of a fork. */
#define SELF (-10000)

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

static size_t ranges_size(const struct iovec *ranges, size_t n)
{
    size_t bytes = 0;

    for (size_t i = 0; i < n; i++)
        bytes += ranges[i].iov_len;
    return bytes;
}

static int system_advise_many(void *ctx, const struct iovec *ranges, size_t n, int advice)
{
    long done = syscall(SYS_process_madvise, SELF, ranges, n, advice, 0u);

    (void)ctx;
    if (done < 0)
        return -errno;
    return (size_t)done == ranges_size(ranges, n) ? 0 : -EAGAIN;
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
    .advise_many = system_advise_many,
    .protect = system_protect,
    .readable = system_readable,
};
