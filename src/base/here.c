#include "base/here.h"

#include "base/latch.h"

_Thread_local void *fi_here_worker_word;
_Thread_local uint32_t fi_here_party_word = FI_LATCH_NOBODY;

/* The compiler must not move this across a switch. */
__attribute__((noinline)) void fi_here_set(void *worker, uint32_t party)
{
    fi_here_worker_word = worker;
    fi_here_party_word = party;
    __asm__ volatile("" ::: "memory");
}

#if !defined __x86_64__

__attribute__((noinline)) void *fi_here_worker(void)
{
    void *worker = fi_here_worker_word;

    __asm__ volatile("" : "+r"(worker)::"memory");
    return worker;
}

__attribute__((noinline)) uint32_t fi_party(void)
{
    uint32_t party = fi_here_party_word;

    __asm__ volatile("" : "+r"(party)::"memory");
    return party;
}

#endif
