/* Replaces base/atomic.h in the explorer: every operation becomes a call with its kind, address,
 * order and label.  The storage itself is never written: the machine has the values of a
 * location. */
#ifndef EXPLORE_ATOMIC_H
#define EXPLORE_ATOMIC_H

#include <stdbool.h>
#include <stdint.h>

typedef enum order {
    ORDER_NONE,  /* a fence left out */
    ORDER_PLAIN, /* not atomic: unordered access is a data race */
    ORDER_RELAXED,
    ORDER_ACQUIRE,
    ORDER_RELEASE,
    ORDER_ACQ_REL,
    ORDER_RMW, /* a store done as an acq_rel read-modify-write, which some use instead of a fence
                */
    ORDER_SEQ_CST,
} order;

/* One operation in the source.  `now` is what it is weakened to, looked up once per check. */
typedef struct site {
    const char *text, *label;
    order written, now;
    unsigned check;
    unsigned bytes; /* how wide it is: sums wrap there */
} site;

void x_init(const void *p, uint64_t v, const char *text);
uint64_t x_load(const void *p, site *s);
void *x_load_item(const void *p, site *s);
void x_store(const void *p, uint64_t v, site *s);
void x_store_item(const void *p, void *v, site *s);
bool x_cas(const void *p, uint64_t *expected, uint64_t desired, site *s);
uint64_t x_exchange(const void *p, uint64_t v, site *s);
uint64_t x_fetch_add(const void *p, uint64_t v, site *s);
void x_fence(site *s);
void x_fence_light(site *s);
void x_fence_heavy(site *s);
bool x_fault(const char *label);
void x_yield(void);

#define FI_ATOMIC(type) type

#define X_SITE_DATA __attribute__((section("explore_sites")))
#define X_SITE(p, label, order)                                                                    \
    static X_SITE_DATA site x_site = {#p, label, order, order, 0, sizeof(__typeof__(*(p)))};       \
    (void)x_site
#define X_BITS(v)  ((uint64_t)(uintptr_t)(v))
#define X_OF(p, v) ((__typeof__(*(p)))(uintptr_t)(v))

#define fi_atomic_init(p, v) x_init((p), X_BITS(v), #p)

#define X_LOAD(p, label, order)                                                                    \
    ({                                                                                             \
        X_SITE(p, label, order);                                                                   \
        X_OF(p, x_load((p), &x_site));                                                             \
    })
#define fi_load_relaxed(p)        X_LOAD(p, "", ORDER_RELAXED)
#define fi_load_acquire(p, label) X_LOAD(p, #label, ORDER_ACQUIRE)

#define X_STORE(p, v, label, order)                                                                \
    ({                                                                                             \
        uint64_t x_value = X_BITS(v); /* may be a load */                                          \
        X_SITE(p, label, order);                                                                   \
        x_store((p), x_value, &x_site);                                                            \
    })
#define fi_store_relaxed(p, v)        X_STORE(p, v, "", ORDER_RELAXED)
#define fi_store_release(p, v, label) X_STORE(p, v, #label, ORDER_RELEASE)

#define fi_load_item(p)                                                                            \
    ({                                                                                             \
        X_SITE(p, "items", ORDER_RELAXED);                                                         \
        x_load_item((p), &x_site);                                                                 \
    })
#define fi_store_item(p, v)                                                                        \
    ({                                                                                             \
        X_SITE(p, "items", ORDER_RELAXED);                                                         \
        x_store_item((p), (v), &x_site);                                                           \
    })

#define X_CAS(p, expected, desired, label, order)                                                  \
    ({                                                                                             \
        X_SITE(p, label, order);                                                                   \
        uint64_t x_seen = X_BITS(*(expected));                                                     \
        bool x_won = x_cas((p), &x_seen, X_BITS(desired), &x_site);                                \
        *(expected) = X_OF(p, x_seen);                                                             \
        x_won;                                                                                     \
    })
#define fi_cas_relaxed(p, expected, desired) X_CAS(p, expected, desired, "", ORDER_RELAXED)
#define fi_cas_acquire(p, expected, desired, label)                                                \
    X_CAS(p, expected, desired, #label, ORDER_ACQUIRE)
#define fi_cas_release(p, expected, desired, label)                                                \
    X_CAS(p, expected, desired, #label, ORDER_RELEASE)

#define X_RMW(f, p, v, label, order)                                                               \
    ({                                                                                             \
        X_SITE(p, label, order);                                                                   \
        X_OF(p, f((p), X_BITS(v), &x_site));                                                       \
    })
#define fi_exchange_acquire(p, v, label)  X_RMW(x_exchange, p, v, #label, ORDER_ACQUIRE)
#define fi_exchange_release(p, v, label)  X_RMW(x_exchange, p, v, #label, ORDER_RELEASE)
#define fi_fetch_add_relaxed(p, v)        X_RMW(x_fetch_add, p, v, "", ORDER_RELAXED)
#define fi_fetch_add_acquire(p, v, label) X_RMW(x_fetch_add, p, v, #label, ORDER_ACQUIRE)
#define fi_fetch_add_release(p, v, label) X_RMW(x_fetch_add, p, v, #label, ORDER_RELEASE)

#define X_FENCE(f, label)                                                                          \
    ({                                                                                             \
        static X_SITE_DATA site x_site = {"fence", label, ORDER_SEQ_CST, ORDER_SEQ_CST, 0, 0};     \
        f(&x_site);                                                                                \
    })
#define fi_fence_seq_cst(label)  X_FENCE(x_fence, #label)
#define fi_fence_light(label)    X_FENCE(x_fence_light, #label)
#define fi_fence_compiler(label) fi_fence_light(label)
#define fi_fence_heavy(label)    X_FENCE(x_fence_heavy, #label)

static const bool fi_fence_one_sided = true;

/* Looks of a waiter at the owner of a bias (base/biased_lock.c).  -1: it never finds it busy. 0: it
 * always does. */
extern int x_lock_looks;

#define FI_FAULT(label) x_fault(#label)

static inline void fi_pause(void)
{
}

/* Continue only after another thread has made progress. */
#define fi_thread_yield() x_yield()

#endif
