#include "base/tls.h"

#include "base/biased_lock.h"

_Thread_local void *fi_tls_worker_ptr;
_Thread_local uint32_t fi_tls_lock_id = FI_LOCK_ID_NONE;

/* noinline, so that the compiler does not move it across a switch. */
__attribute__((noinline)) void fi_tls_set(void *worker, uint32_t lock_id)
{
    fi_tls_worker_ptr = worker;
    fi_tls_lock_id = lock_id;
    __asm__ volatile("" ::: "memory");
}

#if !defined __x86_64__

__attribute__((noinline)) void *fi_tls_worker(void)
{
    void *worker = fi_tls_worker_ptr;

    __asm__ volatile("" : "+r"(worker)::"memory");
    return worker;
}

__attribute__((noinline)) uint32_t fi_lock_id(void)
{
    uint32_t lock_id = fi_tls_lock_id;

    __asm__ volatile("" : "+r"(lock_id)::"memory");
    return lock_id;
}

#endif
