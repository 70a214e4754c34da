/* The one door to atomic operations: the memory order is in the name, never in an argument.
 *
 * Every ordered operation carries a label, such as bounded.steal.top.  It is not compiled in; it is
 * the name of the row in docs/memory-model.md that says what the operation pairs with and what
 * breaks without it, and the handle by which the model checkers weaken that one operation
 * (tests/model/). Because all code goes through this door, the source that ships is also the source
 * that is checked: a checker names a header with the same operations in FI_ATOMIC_HEADER.
 *
 * "item" operations move an opaque pointer between the slots of a queue.  They are relaxed; they
 * have a name of their own because nobody looks at the value before the queue's indices say whose
 * it is.
 */
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

/* Strong compare-and-swap: true when *p was *expected and is now desired.  A failure is a relaxed
 * load into *expected. */
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
    /* ThreadSanitizer does not model fences.  A read-modify-write on one shared word orders at
     * least as much, and it understands that. */
    atomic_fetch_add_explicit(&fi_tsan_fence_word, 0, memory_order_acq_rel);
#elif defined __x86_64__
    /* Any locked instruction is a full barrier, and one on the stack is several times cheaper than
     * the mfence that some compilers emit. */
    __asm__ volatile("lock; orl $0, (%%rsp)" ::: "memory", "cc");
#else
    atomic_thread_fence(memory_order_seq_cst);
#endif
}

/* A pair of fences of which one costs nothing, for a word that one party looks at all the time and others seldom:
 * the light one only stops the compiler, and whoever takes the heavy one stops all processors that run this process
 * for a moment (membarrier(2)), as if each had passed a full fence there.  A light one pairs with a heavy one, never with
 * another light one.  Where the kernel has no such call both are full fences. */
#define fi_fence_light(label)    fi_fence_light_()
#define fi_fence_heavy(label)    fi_fence_heavy_()
/* The light one where it is known that only the other costs something. */
#define fi_fence_compiler(label) __asm__ volatile("" ::: "memory")

/* Set once, before there are threads of ours. */
extern bool fi_fence_one_sided __attribute__((visibility("hidden")));
void fi_fence_heavy_(void);

/* [any] Ask the kernel; in the child of a fork() again. */
void fi_fence_setup(void);

static inline void fi_fence_light_(void)
{
    if (FI_LIKELY(fi_fence_one_sided))
        __asm__ volatile("" ::: "memory");
    else
        fi_fence_seq_cst_();
}

/* [any] Say to the processor that this is a waiting loop. */
static inline void fi_pause(void)
{
#if defined __x86_64__
    __asm__ volatile("pause" ::: "memory");
#elif defined __aarch64__
    __asm__ volatile("isb" ::: "memory");
#endif
}

/* [any] Let somebody else run: what we wait for takes another thread a few instructions. */
static inline void fi_thread_yield(void)
{
    sched_yield();
}

/* A deliberate fault that only the model checkers can switch on, to show that they would see it. */
#define FI_FAULT(label) 0

#endif /* FI_ATOMIC_HEADER */
#endif
