/* Weak, so that a C program does not need the C++ library. */
#include "sched/cxx.h"

#include <stddef.h>

extern void *__cxa_get_globals(void) __attribute__((weak)); // NOLINT: the ABI's own name

fi_cxx *fi_cxx_of_thread(void)
{
    return __cxa_get_globals ? __cxa_get_globals() : NULL;
}
