/* Compiler hints: likely branches, inlining, cache lines, and the active sanitizer. */
#ifndef FI_BASE_COMPILER_H
#define FI_BASE_COMPILER_H

#define FI_LIKELY(condition)   __builtin_expect(!!(condition), 1)
#define FI_UNLIKELY(condition) __builtin_expect(!!(condition), 0)

#define FI_INLINE   static inline __attribute__((always_inline))
#define FI_NOINLINE __attribute__((noinline))

/* Fields that different threads write are on different cache lines. */
#define FI_CACHE_LINE 64

#ifdef __cplusplus
#define FI_CACHE_ALIGNED alignas(FI_CACHE_LINE)
#else
#define FI_CACHE_ALIGNED _Alignas(FI_CACHE_LINE)
#endif

/* Load the cache line of p for writing.  Any address is allowed. */
#define FI_PREFETCH(p) __builtin_prefetch((p), 1)

/* gcc defines macros for its sanitizers; clang has features. */
#if defined __has_feature
#define FI_HAS_FEATURE(feature) __has_feature(feature)
#else
#define FI_HAS_FEATURE(feature) 0
#endif

#if defined __SANITIZE_ADDRESS__ || FI_HAS_FEATURE(address_sanitizer)
#define FI_UNDER_ASAN 1
#else
#define FI_UNDER_ASAN 0
#endif

#if defined __SANITIZE_THREAD__ || FI_HAS_FEATURE(thread_sanitizer)
#define FI_UNDER_TSAN 1
#else
#define FI_UNDER_TSAN 0
#endif

#endif
