/* Fields that different threads write live on different cache lines. */
#ifndef FI_BASE_CACHE_H
#define FI_BASE_CACHE_H

#define FI_CACHE_LINE 64

/* [any] What will be written soon, and was not looked at for long.  Any address does. */
#define FI_PREFETCH(p) __builtin_prefetch((p), 1)

#ifdef __cplusplus
#define FI_CACHE_ALIGNED alignas(FI_CACHE_LINE)
#else
#define FI_CACHE_ALIGNED _Alignas(FI_CACHE_LINE)
#endif

#endif
