/* Tells whether a child of this process can have threads, and prints a line if not. */
#ifndef TESTS_UNIT_OBSERVE_FORKS_H
#define TESTS_UNIT_OBSERVE_FORKS_H

#include "base/compiler.h"

#include <stdbool.h>
#include <stdio.h>

static inline bool children_may_have_threads(void)
{
#ifdef FILCH_EMULATED
    puts("skipped: the emulator allows no threads after a fork");
    return false;
#else
    if (FI_UNDER_TSAN)
        puts("skipped: ThreadSanitizer allows no threads after a fork");
    return !FI_UNDER_TSAN;
#endif
}

#endif
