/* Replaces base/atomic.h for relacy, a randomised race detector.  The shipped sources are compiled
 * as C++ with these operations. */
#ifndef RELACY_ATOMIC_H
#define RELACY_ATOMIC_H

/* Before relacy.hpp, which defines macros for new, malloc and errno. */
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ostream>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wall"
#pragma GCC diagnostic ignored "-Wextra"
#include <relacy/relacy.hpp>
#pragma GCC diagnostic pop

/* The order that the labelled operation has in this run. */
rl::memory_order order_now(const char *label, rl::memory_order written);
bool fault_now(const char *label);
void fence_now(const char *label, rl::debug_info_param where);

#define FI_ATOMIC(type) rl::atomic<type>

#define fi_atomic_init(p, v) (p)->store((v), rl::mo_relaxed, RL_INFO)

#define R_LOAD(p, label, mo)     (p)->load(order_now(label, rl::mo), RL_INFO)
#define R_STORE(p, v, label, mo) (p)->store((v), order_now(label, rl::mo), RL_INFO)
#define R_CAS(p, expected, desired, label, mo)                                                     \
    (p)->compare_exchange_strong(*(expected), (desired), order_now(label, rl::mo), RL_INFO,        \
                                 rl::mo_relaxed, RL_INFO)
#define R_EXCHANGE(p, v, label, mo) (p)->exchange((v), order_now(label, rl::mo), RL_INFO)

#define fi_load_relaxed(p)            R_LOAD(p, "", mo_relaxed)
#define fi_load_acquire(p, label)     R_LOAD(p, #label, mo_acquire)
#define fi_store_relaxed(p, v)        R_STORE(p, v, "", mo_relaxed)
#define fi_store_release(p, v, label) R_STORE(p, v, #label, mo_release)
#define fi_load_item(p)               R_LOAD(p, "", mo_relaxed)
#define fi_store_item(p, v)           R_STORE(p, v, "", mo_relaxed)

#define fi_cas_relaxed(p, expected, desired)        R_CAS(p, expected, desired, "", mo_relaxed)
#define fi_cas_acquire(p, expected, desired, label) R_CAS(p, expected, desired, #label, mo_acquire)
#define fi_cas_release(p, expected, desired, label) R_CAS(p, expected, desired, #label, mo_release)

#define fi_exchange_acquire(p, v, label) R_EXCHANGE(p, v, #label, mo_acquire)
#define fi_exchange_release(p, v, label) R_EXCHANGE(p, v, #label, mo_release)

#define fi_fence_seq_cst(label) fence_now(#label, RL_INFO)

#define FI_FAULT(label) fault_now(#label)

static inline void fi_thread_yield()
{
    rl::yield(1, RL_INFO);
}

static inline void fi_pause()
{
    rl::yield(1, RL_INFO);
}

#endif
