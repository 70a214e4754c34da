/* Thread-local variables of the scheduler: the worker of the calling thread, and its lock id
 * (base/biased_lock.h).
 *
 * A fiber may continue on another thread.  The compiler may keep the address of a thread-local
 * variable across a switch, unless a function call reads it.  A call costs as much as a biased
 * lock, so on x86-64 each read is an assembly instruction. */
#ifndef FI_BASE_TLS_H
#define FI_BASE_TLS_H

#include <stdint.h>

/* Initial-exec: the variable is at a fixed offset, and its address needs no call. */
#define FI_TLS extern _Thread_local __attribute__((tls_model("initial-exec"), visibility("hidden")))

FI_TLS void *fi_tls_worker_ptr;
FI_TLS uint32_t fi_tls_lock_id;

/* [thread] NULL and FI_LOCK_ID_NONE, the initial values: the thread does not run a worker. */
void fi_tls_set(void *worker, uint32_t lock_id);

#if defined __x86_64__

/* [any] */
static inline void *fi_tls_worker(void)
{
    void *offset, *worker;

    __asm__ volatile("movq fi_tls_worker_ptr@gottpoff(%%rip), %0\n\t"
                     "movq %%fs:(%0), %1"
                     : "=&r"(offset), "=r"(worker)::"memory");
    return worker;
}

static inline uint32_t fi_lock_id(void)
{
    uint64_t offset;
    uint32_t lock_id;

    __asm__ volatile("movq fi_tls_lock_id@gottpoff(%%rip), %0\n\t"
                     "movl %%fs:(%0), %1"
                     : "=&r"(offset), "=r"(lock_id)::"memory");
    return lock_id;
}

#else

void *fi_tls_worker(void);
uint32_t fi_lock_id(void);

#endif
#endif
