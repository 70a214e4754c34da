/* Who the calling thread is, as the scheduler has said: a worker, and a party to latches.
 *
 * A fiber may go on in another thread.  In C the compiler may keep the address of a thread's own word over a switch, unless
 * it is read in a call, and that costs as much as a latch.  So each read is spelled out, where it is known how.
 */
#ifndef FI_BASE_TLS_H
#define FI_BASE_TLS_H

#include <stdint.h>

/* In the memory that every thread has from the start: no call is needed to find it. */
#define FI_TLS extern _Thread_local __attribute__((tls_model("initial-exec"), visibility("hidden")))

FI_TLS void *fi_tls_worker_ptr;
FI_TLS uint32_t fi_tls_lock_id;

/* [thread] NULL, FI_LOCK_ID_NONE: it is none, as at first. */
void fi_tls_set(void *worker, uint32_t party);

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
    uint32_t party;

    __asm__ volatile("movq fi_tls_lock_id@gottpoff(%%rip), %0\n\t"
                     "movl %%fs:(%0), %1"
                     : "=&r"(offset), "=r"(party)::"memory");
    return party;
}

#else

void *fi_tls_worker(void);
uint32_t fi_lock_id(void);

#endif
#endif
