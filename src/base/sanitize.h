/* Which sanitizer this file is compiled for: gcc says it by macros, clang by features. */
#ifndef FI_BASE_SANITIZE_H
#define FI_BASE_SANITIZE_H

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
