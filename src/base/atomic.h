/* Atomic operations with the memory order in the name.  All code uses these and no others.
 *
 * Every ordered operation has a label, such as bounded.steal.top.  Labels are not compiled in.  A
 * label names the row of docs/memory-model.md that says what the operation pairs with and what
 * breaks without it.  The model checkers (tests/model/) weaken one operation by its label.  They
 * check the source that ships: FI_ATOMIC_HEADER names their header with the same operations.
 *
 * "item" operations move an opaque pointer into and out of the slots of a queue.  They are relaxed.
 * They have their own name because the value is used only after the indices of the queue have
 * decided who owns it. */
#ifndef FI_BASE_ATOMIC_H
#define FI_BASE_ATOMIC_H

#ifdef FI_ATOMIC_HEADER
#include FI_ATOMIC_HEADER
#else

#include "base/compiler.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define FI_ATOMIC(type) _Atomic(type)

#define fi_atomic_init(p, v) atomic_init((p), (v))

#define fi_load_relaxed(p)        atomic_load_explicit((p), memory_order_relaxed)
#define fi_load_acquire(p, label) atomic_load_explicit((p), memory_order_acquire)

#define fi_store_relaxed(p, v)        atomic_store_explicit((p), (v), memory_order_relaxed)
#define fi_store_release(p, v, label) atomic_store_explicit((p), (v), memory_order_release)

#define fi_load_item(p)     atomic_load_explicit((p), memory_order_relaxed)
#define fi_store_item(p, v) atomic_store_explicit((p), (v), memory_order_relaxed)

/* Strong compare-and-swap.  True: *p was *expected and is now desired.  False: *expected is the
 * result of a relaxed load. */
#define FI_CAS(p, expected, desired, order)                                                        \
    atomic_compare_exchange_strong_explicit((p), (expected), (desired), (order),                   \
                                            memory_order_relaxed)
#define fi_cas_relaxed(p, expected, desired) FI_CAS(p, expected, desired, memory_order_relaxed)
#define fi_cas_acquire(p, expected, desired, label)                                                \
    FI_CAS(p, expected, desired, memory_order_acquire)
#define fi_cas_release(p, expected, desired, label)                                                \
    FI_CAS(p, expected, desired, memory_order_release)

#define fi_exchange_acquire(p, v, label) atomic_exchange_explicit((p), (v), memory_order_acquire)
#define fi_exchange_release(p, v, label) atomic_exchange_explicit((p), (v), memory_order_release)

#define fi_fetch_add_relaxed(p, v)        atomic_fetch_add_explicit((p), (v), memory_order_relaxed)
#define fi_fetch_add_acquire(p, v, label) atomic_fetch_add_explicit((p), (v), memory_order_acquire)
#define fi_fetch_add_release(p, v, label) atomic_fetch_add_explicit((p), (v), memory_order_release)

#define fi_fence_seq_cst(label) fi_fence_seq_cst_()

#if FI_UNDER_TSAN
extern _Atomic(int) fi_tsan_fence_word;
#endif

static inline void fi_fence_seq_cst_(void)
{
#if FI_UNDER_TSAN
    /* ThreadSanitizer does not model fences.  It does model a read-modify-write of one shared word,
     * which orders at least as much. */
    atomic_fetch_add_explicit(&fi_tsan_fence_word, 0, memory_order_acq_rel);
#elif defined __x86_64__
    /* Any locked instruction is a full barrier.  One on the stack is several times cheaper than the
     * mfence that some compilers emit. */
    __asm__ volatile("lock; orl $0, (%%rsp)" ::: "memory", "cc");
#else
    atomic_thread_fence(memory_order_seq_cst);
#endif
}

/* An asymmetric pair of fences, for a word that one thread reads often and others write seldom.
 * The light fence only stops the compiler.  The heavy fence interrupts all processors that run this
 * process (membarrier(2)), as if each had executed a full fence.  A light fence pairs with a heavy
 * one, never with another light one.  Without that system call both are full fences. */
#define fi_fence_light(label)    fi_fence_light_()
#define fi_fence_heavy(label)    fi_fence_heavy_()
/* A light fence for code that runs only if fi_fence_one_sided is true. */
#define fi_fence_compiler(label) __asm__ volatile("" ::: "memory")

/* Set before the runtime has threads. */
extern bool fi_fence_one_sided __attribute__((visibility("hidden")));
void fi_fence_heavy_(void);

/* [any] Register with the kernel.  The child of a fork must call it again. */
void fi_fence_setup(void);

static inline void fi_fence_light_(void)
{
    if (FI_LIKELY(fi_fence_one_sided))
        __asm__ volatile("" ::: "memory");
    else
        fi_fence_seq_cst_();
}

/* [any] Tell the processor that this is a spin loop. */
static inline void fi_pause(void)
{
#if defined __x86_64__
    __asm__ volatile("pause" ::: "memory");
#elif defined __aarch64__
    __asm__ volatile("isb" ::: "memory");
#endif
}

/* [any] Let another thread run, while waiting for one that needs a few instructions. */
static inline void fi_thread_yield(void)
{
    sched_yield();
}

/* An injected bug.  Only the model checkers switch it on, to show that they detect it. */
#define FI_FAULT(label) 0

#endif /* FI_ATOMIC_HEADER */
#endif
