/* The system calls of programs that use Filch, recorded by strace with every setting.  A new call
 * that is not in this table is detected: the attack "others" of the family syscalls refuses all
 * calls that are not here. */
#ifndef HOSTILE_SYSCALLS_H
#define HOSTILE_SYSCALLS_H

#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>

static const struct hostile_syscall {
    const char *name;
    long number;
} hostile_syscalls[] = {
#define ROW(name)                                                                                  \
    {                                                                                              \
#name, SYS_##name                                                                          \
    }
    ROW(accept4),
    ROW(bind),
    ROW(brk),
    ROW(clock_gettime),
    ROW(clock_nanosleep),
    ROW(clone),
    ROW(clone3),
    ROW(close),
    ROW(connect),
    ROW(epoll_create1),
    ROW(epoll_ctl),
    ROW(epoll_pwait),
    ROW(epoll_pwait2),
    ROW(eventfd2),
    ROW(execve),
    ROW(exit),
    ROW(exit_group),
    ROW(faccessat2),
    ROW(fadvise64),
    ROW(fchmod),
    ROW(fcntl),
    ROW(flock),
    ROW(fsync),
    ROW(ftruncate),
    ROW(futex),
    ROW(getdents64),
    ROW(getpid),
    ROW(getppid),
    ROW(getrandom),
    ROW(getsockname),
    ROW(getsockopt),
    ROW(gettid),
    ROW(io_uring_enter),
    ROW(io_uring_setup),
    ROW(ioctl),
    ROW(kill),
    ROW(listen),
    ROW(lseek),
    ROW(madvise),
    ROW(membarrier),
    ROW(memfd_create),
    ROW(mmap),
    ROW(mprotect),
    ROW(mremap),
    ROW(munmap),
    ROW(newfstatat),
    ROW(openat),
    ROW(pidfd_open),
    ROW(pipe2),
    ROW(ppoll),
    ROW(prctl),
    ROW(pread64),
    ROW(preadv2),
    ROW(prlimit64),
    ROW(process_madvise),
    ROW(pwrite64),
    ROW(read),
    ROW(readv),
    ROW(recvfrom),
    ROW(recvmsg),
    ROW(renameat2),
    ROW(restart_syscall),
    ROW(rseq),
    ROW(rt_sigaction),
    ROW(rt_sigpending),
    ROW(rt_sigprocmask),
    ROW(rt_sigreturn),
    ROW(rt_sigtimedwait),
    ROW(sched_getaffinity),
    ROW(sched_setaffinity),
    ROW(sched_yield),
    ROW(sendfile),
    ROW(sendmsg),
    ROW(sendto),
    ROW(set_robust_list),
    ROW(setsockopt),
    ROW(sigaltstack),
    ROW(signalfd4),
    ROW(socket),
    ROW(socketpair),
    ROW(statx),
    ROW(tgkill),
    ROW(uname),
    ROW(unlinkat),
    ROW(wait4),
    ROW(write),
    ROW(writev),
#ifdef SYS_access /* older calls, which newer architectures do not have */
    ROW(access),
    ROW(epoll_wait),
    ROW(fstat),
    ROW(link),
    ROW(poll),
    ROW(rename),
    ROW(stat),
    ROW(unlink),
    ROW(vfork),
    ROW(pause),
#endif
#undef ROW
};

#define HOSTILE_SYSCALLS (sizeof hostile_syscalls / sizeof hostile_syscalls[0])

/* Returns -1 for a call that is not in the table. */
static inline long hostile_syscall_number(const char *name, size_t n)
{
    for (size_t i = 0; i < HOSTILE_SYSCALLS; i++)
        if (strlen(hostile_syscalls[i].name) == n &&
            strncmp(hostile_syscalls[i].name, name, n) == 0)
            return hostile_syscalls[i].number;
    return -1;
}

#endif
