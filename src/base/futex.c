/* Futexes, with absolute deadlines: FUTEX_WAIT_BITSET takes them as they are,
 * so a sleeper that looks again after a wake for no reason needs no arithmetic. */
#include "base/futex.h"

#include <errno.h>
#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S 1000000000

/* 32-bit machines have the call with a 64-bit time under a name of its own. */
#if defined SYS_futex_time64 && !defined __LP64__
#define FUTEX_CALL SYS_futex_time64
typedef struct {
    int64_t tv_sec;
    int64_t tv_nsec;
} futex_time;
#else
#define FUTEX_CALL SYS_futex
typedef struct timespec futex_time;
#endif

_Static_assert(sizeof(FI_ATOMIC(uint32_t)) == 4, "the kernel looks at 4 bytes");

/* [any] noinline: nothing of errno's address, which belongs to this thread, may be kept in a
 * function that later switches to another. */
__attribute__((noinline)) static int call(FI_ATOMIC(uint32_t) * word, int op, uint32_t value,
                                          const futex_time *deadline)
{
    long r = syscall(FUTEX_CALL, word, op, value, deadline, NULL, FUTEX_BITSET_MATCH_ANY);

    return r < 0 ? -errno : (int)r;
}

int fi_futex_wait(FI_ATOMIC(uint32_t) * word, uint32_t expected, int64_t deadline_ns)
{
    int64_t ns = deadline_ns < 0 ? 0 : deadline_ns; /* the kernel refuses negative times */
    futex_time deadline = {.tv_sec = ns / NS_PER_S, .tv_nsec = ns % NS_PER_S};
    const futex_time *until = deadline_ns == FI_FUTEX_FOREVER ? NULL : &deadline;
    int e = call(word, FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, expected, until);

    return e == -EINTR ? 0 : e; /* a signal is a wake for no reason */
}

int fi_futex_wake(FI_ATOMIC(uint32_t) * word, int count)
{
    /* The kernel would take 0 for 1. */
    return count <= 0 ? 0 : call(word, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, (uint32_t)count, NULL);
}

int fi_futex_wait_shared(FI_ATOMIC(uint32_t) * word, uint32_t expected)
{
    int e = call(word, FUTEX_WAIT_BITSET, expected, NULL);

    return e == -EINTR ? 0 : e;
}

int fi_futex_wake_shared(FI_ATOMIC(uint32_t) * word, int count)
{
    return count <= 0 ? 0 : call(word, FUTEX_WAKE, (uint32_t)count, NULL);
}
