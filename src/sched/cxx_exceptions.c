/* Weak, so that a C program does not need the C++ library. */
#include "sched/cxx_exceptions.h"

#include <stddef.h>

extern void *__cxa_get_globals(void) __attribute__((weak)); // NOLINT: the ABI's own name

fi_cxx_exceptions *fi_cxx_exceptions_of_thread(void)
{
    return __cxa_get_globals ? __cxa_get_globals() : NULL;
}
